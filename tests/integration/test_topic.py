"""Topics of a real cluster, through the real CLI."""

import json
import socket
import time

import pytest

from kcluster.clients.kafka import Kafka, topics


def answer(cluster, *args):
    return json.loads(cluster.run(*args, "-n", cluster.name, "-o", "json").stdout)


def refused(cluster, code, *args):
    done = cluster.run(*args, "-n", cluster.name, check=False)
    assert done.returncode == code, done.stderr
    assert done.stdout == ""
    assert "Traceback" not in done.stderr
    return done.stderr


@pytest.mark.parametrize("kind", ["live", "kraft"])
def test_a_topic_is_created_listed_described_altered_and_deleted(kind, request):
    cluster = request.getfixturevalue(kind)
    name = f"cycle-{kind}"
    made = answer(
        cluster, "topic", "create", name, "--partitions", "4", "--replication-factor", "3", "-c", "retention.ms=60000"
    )
    topic = {"name": name, "partitions": 4, "replication_factor": 3, "config": {"retention.ms": "60000"}}
    assert made == {"created": [topic], "existing": []}
    assert name in [topic["name"] for topic in answer(cluster, "topic", "list")]

    altered = answer(cluster, "topic", "alter", name, "--partitions", "6", "--unset", "retention.ms", "--yes")
    assert altered["done"]
    assert {change["action"] for change in altered["changes"]} == {"add partitions", "unset"}
    (topic,) = answer(cluster, "topic", "describe", name)
    assert topic["config"] == {}
    assert [part["partition"] for part in topic["partitions"]] == list(range(6))
    for part in topic["partitions"]:
        assert part["leader"] == part["replicas"][0]
        assert sorted(part["isr"]) == sorted(part["replicas"])
        assert (part["start_offset"], part["end_offset"], part["faults"]) == (0, 0, [])
        assert part["size_bytes"] == 0

    assert f"there is no terminal to ask\n  try: add --confirm {name}" in refused(cluster, 2, "topic", "delete", name)
    cluster.run("topic", "delete", name, "-n", cluster.name, "--confirm", name)
    assert name not in [topic["name"] for topic in answer(cluster, "topic", "list")]


def test_a_topic_that_was_made_or_grown_is_known_to_every_broker(live):
    for step in (("create", "everywhere", "-p", "3"), ("alter", "everywhere", "-p", "6", "--yes")):
        live.run("topic", *step, "-n", live.name)
        views = topics.by_each_broker(Kafka(live.bootstrap))
        assert [len(view["everywhere"].partitions) for view in views] == [int(step[3])] * 3


def test_numbers_that_are_not_given_are_the_brokers_own(live):
    (made,) = answer(live, "topic", "create", "defaults")["created"]
    assert made["replication_factor"] == 3


def test_several_topics_are_created_or_none_and_those_that_exist_are_left_alone_when_asked(live):
    live.run("topic", "create", "several-b", "-p", "2", "-n", live.name)
    several = ("topic", "create", "several-a", "several-b", "-p", "3")
    assert "the topic several-b exists already\n  partitions: 2, requested 3" in refused(live, 4, *several)
    assert "retention.ms: Not a number" in refused(
        live, 2, "topic", "create", "several-a", "several-c", "-c", "retention.ms=long"
    )
    assert not {"several-a", "several-c"} & {topic["name"] for topic in answer(live, "topic", "list")}
    made = answer(live, *several, "--if-not-exists")
    assert ([topic["name"] for topic in made["created"]], made["existing"]) == (["several-a"], ["several-b"])
    assert {topic["name"]: topic["partitions"] for topic in answer(live, "topic", "list")}["several-b"] == 2
    assert answer(live, *several, "--if-not-exists") == {"created": [], "existing": ["several-a", "several-b"]}


def test_a_dry_run_is_validated_by_the_brokers_and_creates_nothing(live):
    dry = ("topic", "create", "dry-a", "dry-b", "-p", "2", "-c", "retention.ms=5", "--dry-run")
    planned = answer(live, *dry)
    assert not planned["done"]
    wanted = "2 partitions, replication factor of the brokers' default.replication.factor, retention.ms=5"
    assert [(change["action"], change["topic"], change["to"]) for change in planned["changes"]] == [
        ("create", "dry-a", wanted),
        ("create", "dry-b", wanted),
    ]
    assert "retention.ms: Not a number" in refused(
        live, 2, "topic", "create", "dry-a", "-c", "retention.ms=long", "--dry-run"
    )
    assert not {"dry-a", "dry-b"} & {topic["name"] for topic in answer(live, "topic", "list")}
    live.run("topic", "create", "dry-b", "-n", live.name)
    notes = {change["topic"]: change["note"] for change in answer(live, *dry, "--if-not-exists")["changes"]}
    assert notes == {"dry-a": "", "dry-b": "exists already"}


def test_a_topic_that_exists_is_left_alone_and_the_difference_is_told(live):
    live.run("topic", "create", "twice", "-p", "2", "-n", live.name)
    told = refused(live, 4, "topic", "create", "twice", "-p", "3", "-c", "cleanup.policy=compact")
    assert "the topic twice exists already" in told
    assert "partitions: 2, requested 3" in told
    assert "cleanup.policy: not set, requested compact" in told
    assert "try: kcluster topic alter twice --partitions 3 -c cleanup.policy=compact" in told
    assert len(answer(live, "topic", "describe", "twice")[0]["partitions"]) == 2


@pytest.mark.parametrize(
    ("words", "code", "message", "remedy"),
    [
        (["a/b"], 2, "`a/b` is not a valid topic name", "choose another name"),
        (["bad", "-r", "9"], 4, "replication factor 9 needs 9 brokers, the cluster has 3", "--replication-factor 3"),
        (["bad", "-c", "retention.mss=1"], 2, "`retention.mss` is not a topic property", "did you mean retention.ms"),
        (["bad", "-c", "retention.ms=long"], 2, "retention.ms: Not a number", "correct the value"),
        (["bad", "-c", "retention.ms"], 2, "`retention.ms` is not KEY=VALUE", "-c retention.ms="),
        (["bad", "-p", "0"], 2, "--partitions 0: use a whole number of at least 1", "--help"),
        (["__bad"], 4, "__bad is an internal topic", "change it with broker properties"),
    ],
)
def test_a_topic_that_cannot_be_is_refused_in_one_clear_line(live, words, code, message, remedy):
    live.run("topic", "create", "there-is-one", "-n", live.name, check=False)
    told = refused(live, code, "topic", "create", *words)
    assert message in told.splitlines()[0]
    assert remedy in told


def test_an_unknown_topic_is_answered_with_the_nearest_name(live):
    live.run("topic", "create", "invoices", "-n", live.name)
    for verb in (["describe"], ["alter", "-p", "9", "--yes"], ["delete", "--confirm", "invoicse"]):
        told = refused(live, 2, "topic", verb[0], "invoicse", *verb[1:])
        assert "there is no topic invoicse" in told
        assert "did you mean invoices" in told


def test_partitions_never_shrink_and_a_change_without_a_terminal_needs_yes(live):
    live.run("topic", "create", "grows", "-p", "3", "-n", live.name)
    assert "partitions only grow" in refused(live, 4, "topic", "alter", "grows", "-p", "2", "--yes")
    told = refused(live, 2, "topic", "alter", "grows", "-p", "4")
    assert "a key go to another partition" in told
    assert "add --yes" in told
    assert "nothing to do" in live.run("topic", "alter", "grows", "-p", "3", "-n", live.name).stdout


def test_a_topic_is_made_again_while_the_old_one_is_still_going(live):
    kafka = Kafka(live.bootstrap)
    for partitions in (60, 61, 62):
        topics.create(kafka, "again", partitions, 3, {})
        kafka.wait_each(kafka.admin.delete_topics(["again"], operation_timeout=5))
    topics.create(kafka, "again", 2, 3, {})
    (topic,) = answer(live, "topic", "describe", "again")
    assert len(topic["partitions"]) == 2


def test_a_deletion_names_topic_records_cluster_and_address_before_the_question(live):
    live.run("topic", "create", "newt", "-p", "2", "-n", live.name)
    assert "error: --yes does not confirm that data is deleted\n  try: add --confirm newt\n" in refused(
        live, 2, "topic", "delete", "newt", "--yes"
    )
    told = refused(live, 2, "topic", "delete", "newt")
    address = live.bootstrap.split(",")[0]
    assert f"deletes topic newt (2 partitions, 0 records) on {live.name}, {address}\n" in told
    assert "try: add --confirm newt" in told


def test_internal_topics_are_not_deleted(live):
    assert "internal topic" in refused(
        live, 4, "topic", "delete", "__consumer_offsets", "--confirm", "__consumer_offsets"
    )


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


def test_an_address_where_nothing_listens_is_told_in_seconds(live):
    begun = time.monotonic()
    done = live.run("topic", "list", "--bootstrap", f"127.0.0.1:{free_port()}", check=False)
    assert time.monotonic() - begun < 12
    assert done.returncode == 6
    assert done.stderr.startswith("error: no broker answers at 127.0.0.1:")


def test_an_address_that_never_answers_is_given_up_in_seconds(live):
    with socket.create_server(("127.0.0.1", 0)) as listening:
        begun = time.monotonic()
        address = f"127.0.0.1:{listening.getsockname()[1]}"
        done = live.run("topic", "list", "--bootstrap", address, check=False)
    assert time.monotonic() - begun < 12
    assert done.returncode == 6
    assert f"no broker answers at {address}" in done.stderr


def test_a_dead_address_among_the_bootstrap_addresses_does_no_harm(live):
    begun = time.monotonic()
    live.run("topic", "list", "--bootstrap", f"127.0.0.1:{free_port()},{live.bootstrap}")
    assert time.monotonic() - begun < 12


INVENTORY = """
all:
  vars:
    kcluster_name: {name}
    kafka_topics:
      - name: declared-a
        partitions: 2
        replication_factor: 3
        config:
          retention.ms: 60000
      - name: declared-b
        partitions: {partitions}
        replication_factor: 3
zookeeper:
  hosts:
    node1: {{ansible_connection: local, zookeeper_id: 1, kafka_broker_id: 1}}
    node2: {{ansible_connection: local, zookeeper_id: 2, kafka_broker_id: 2}}
    node3: {{ansible_connection: local, zookeeper_id: 3, kafka_broker_id: 3}}
kafka_broker:
  hosts:
    node1:
    node2:
    node3:
"""


def test_declared_topics_are_planned_applied_and_then_left_alone(live, tmp_path):
    inventory = tmp_path / "hosts.yml"
    inventory.write_text(INVENTORY.format(name=live.name, partitions=2))

    def declared(*args):
        return json.loads(live.run("topic", *args, "-i", str(inventory), "-o", "json").stdout)

    live.run("topic", "create", "declared-not", "-n", live.name)
    plan = declared("plan")
    assert [(change["action"], change["topic"]) for change in plan["changes"]] == [
        ("create", "declared-a"),
        ("create", "declared-b"),
    ]
    assert not plan["done"]
    assert "declared-not" in plan["undeclared"]
    assert "declared-a" not in [topic["name"] for topic in answer(live, "topic", "list")]

    assert declared("apply", "--yes")["done"]
    (topic,) = answer(live, "topic", "describe", "declared-a")
    assert topic["config"] == {"retention.ms": "60000"}
    assert declared("apply")["changes"] == []
    assert "nothing to do" in live.run("topic", "plan", "-i", str(inventory)).stdout

    inventory.write_text(INVENTORY.format(name=live.name, partitions=5))
    (change,) = declared("apply", "--yes")["changes"]
    assert (change["action"], change["from"], change["to"]) == ("add partitions", "2", "5")
    assert "declared-not" in [topic["name"] for topic in answer(live, "topic", "list")]

    refusal = live.run("topic", "apply", "--prune", "--yes", "-i", str(inventory), check=False)
    assert refusal.returncode == 2
    assert f"add --confirm {live.name}" in refusal.stderr


PRUNED = """
all:
  vars: {ansible_connection: local, kcluster_name: own, kafka_topics: [{name: declared, replication_factor: 1}]}
zookeeper: {hosts: {keeper: {zookeeper_id: 1}}}
kafka_broker: {hosts: {broker: {kafka_broker_id: 1}}}
"""


def test_prune_deletes_what_is_not_declared_for_the_clusters_name_and_never_what_kafka_keeps(own, tmp_path):
    inventory = tmp_path / "hosts.yml"
    inventory.write_text(PRUNED)
    cluster = own("-i", str(inventory))
    cluster.run("topic", "create", "stranger")
    cluster.run("produce", "stranger", input="a\n")
    cluster.run("consume", "stranger", "--from-beginning", "-e", "--group", "g")  # makes __consumer_offsets
    refusal = cluster.run("topic", "apply", "--prune", "--yes", "--confirm", "other", "-i", str(inventory), check=False)
    assert refusal.returncode == 4
    assert "nothing was deleted" in refusal.stderr
    cluster.run("topic", "apply", "--prune", "--yes", "--confirm", "own", "-i", str(inventory))
    assert [topic["name"] for topic in answer(cluster, "topic", "list", "--internal")] == [
        "__consumer_offsets",
        "declared",
    ]
