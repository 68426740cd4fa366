"""Consumer groups of a real cluster, through the real CLI."""

import json
import time

from confluent_kafka import Consumer, Producer


def answer(cluster, *args):
    return json.loads(cluster.run(*args, "-n", cluster.name, "-o", "json").stdout)


def fill(cluster, topic, records):
    cluster.run("topic", "create", topic, "-p", "2", "-r", "3", "-n", cluster.name)
    producer = Producer({"bootstrap.servers": cluster.bootstrap})
    for number in range(records):
        producer.produce(topic, str(number), partition=0)
    assert producer.flush(20) == 0


def read(cluster, topic, group, records):
    """A consumer of the group that has read and committed so many records."""
    consumer = Consumer(
        {
            "bootstrap.servers": cluster.bootstrap,
            "group.id": group,
            "client.id": "reader",
            "auto.offset.reset": "earliest",
            "enable.auto.commit": False,
        }
    )
    consumer.subscribe([topic])
    deadline, seen = time.monotonic() + 40, 0
    while seen < records:
        assert time.monotonic() < deadline, f"only {seen} of {records} records were seen"
        message = consumer.poll(1)
        seen += message is not None and not message.error()
    consumer.commit(asynchronous=False)
    return consumer


def test_a_group_is_described_while_it_reads_and_reset_only_afterwards(live):
    fill(live, "lagging", 50)
    consumer = read(live, "lagging", "billing", 20)
    try:
        described = answer(live, "group", "describe", "billing")
        assert described["state"] == "Stable"
        assert [member["client_id"] for member in described["members"]] == ["reader"]
        first, second = described["partitions"]
        assert (first["committed"], first["end_offset"], first["lag"]) == (20, 50, 30)
        assert (second["committed"], second["lag"]) == (None, None)
        assert described["total_lag"] == 30
        assert {group["name"]: group["lag"] for group in answer(live, "group", "list")}["billing"] == 30

        refused = live.run(
            "group", "reset", "billing", "--topic", "lagging", "--to", "0", "--yes", "-n", live.name, check=False
        )
        assert refused.returncode == 4
        assert "billing is Stable with 1 member:" in refused.stderr
        assert "reader on 127.0.0.1" in refused.stderr
        refused = live.run("group", "delete", "billing", "--yes", "-n", live.name, check=False)
        assert refused.returncode == 4
        assert "billing is Stable with 1 member: only an empty group can be deleted\n  reader on" in refused.stderr
    finally:
        consumer.close()

    unasked = live.run("group", "reset", "billing", "--topic", "lagging", "--to", "-5", "-n", live.name, check=False)
    assert unasked.returncode == 2
    assert "add --yes" in unasked.stderr
    shifted = answer(live, "group", "reset", "billing", "--topic", "lagging", "--to", "-5", "--yes")
    assert [(move["from"], move["to"]) for move in shifted["partitions"]] == [(20, 15), (None, None)]
    for goal, lag in (("earliest", 50), ("latest", 0), ("7", 43), ("2020-01-01", 50), ("2099-01-01T00:00:00Z", 0)):
        answer(live, "group", "reset", "billing", "--topic", "lagging:0", "--to", goal, "--yes")
        assert answer(live, "group", "describe", "billing")["total_lag"] == lag, goal


def test_groups_are_deleted_after_what_is_lost_was_shown(live):
    fill(live, "read-once", 5)
    for group in ("gone-a", "gone-b"):
        read(live, "read-once", group, 5).close()
    unasked = live.run("group", "delete", "gone-a", "gone-b", "-n", live.name, check=False)
    assert unasked.returncode == 2
    shown = [line.split() for line in unasked.stderr.splitlines()]
    assert [line for line in shown if line[0] in ("gone-a", "gone-b")] == [
        [group, "Empty", "1", "read-once"] for group in ("gone-a", "gone-b")
    ]
    assert "add --yes" in unasked.stderr
    unknown = live.run("group", "delete", "gone-a", "gone-c", "--yes", "-n", live.name, check=False)
    assert (unknown.returncode, "there is no consumer group gone-c" in unknown.stderr) == (2, True)
    assert answer(live, "group", "delete", "gone-a", "gone-b", "--yes") == {
        "done": True,
        "groups": [{"name": group, "state": "Empty", "committed_offsets": 1} for group in ("gone-a", "gone-b")],
    }
    assert not {"gone-a", "gone-b"} & {group["name"] for group in answer(live, "group", "list")}


def test_an_unknown_group_is_answered_with_the_nearest_name(live):
    fill(live, "named", 1)
    read(live, "named", "auditing", 1).close()
    for words in (["describe", "auditnig"], ["reset", "auditnig", "--topic", "named", "--to", "latest", "--yes"]):
        done = live.run("group", *words, "-n", live.name, check=False)
        assert done.returncode == 2
        assert "there is no consumer group auditnig" in done.stderr
        assert "did you mean auditing?" in done.stderr


def test_groups_of_a_kraft_cluster_are_seen_too(kraft):
    fill(kraft, "lagging", 3)
    read(kraft, "lagging", "billing", 3).close()
    assert answer(kraft, "group", "describe", "billing")["total_lag"] == 0
