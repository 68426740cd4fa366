"""`kcluster consume` on a real cluster: what is read, how it is shown, what a group commits, and how it ends."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import time
from collections.abc import Sequence
from contextlib import AbstractContextManager
from typing import TYPE_CHECKING

import pytest

from kcluster.clients.kafka import Kafka
from kcluster.operations.consume import ConsumeRequest, RecordReader, StartPosition
from tests.children import child
from tests.integration.losing import lose_records

if TYPE_CHECKING:
    from conftest import Live

NASTY = [
    {"key": None, "value": "text é☃🙂\u2028", "headers": []},
    {"key": "", "value": "", "headers": [{"key": "h", "value": ""}, {"key": "h", "value": None}]},
    {"key": "k", "value": None, "headers": [{"key": "é", "value_base64": "/wA="}]},
    {"key_base64": "/w==", "value_base64": "AIACgP8=", "headers": []},
    {"key": "null", "value": "null", "headers": []},
    {"key": "line\nfeed", "value": '{"quote": "\\""}\r\n', "headers": []},
]


def at(live: Live) -> tuple[str, str]:
    return "--bootstrap", live.bootstrap


@pytest.fixture
def topic(live: Live, request: pytest.FixtureRequest) -> str:
    """A topic of its own for a test, with three partitions."""
    name = request.node.name.replace("[", "-").rstrip("]")[:200]
    live.run("topic", "create", name, "--partitions", "3", *at(live))
    return name


def write(live: Live, topic: str, values: Sequence[str], partition: int = 0) -> None:
    text = "".join(f"{value}\n" for value in values)
    live.run("produce", topic, "--partition", str(partition), *at(live), input=text)


def read(live: Live, topic: str, *options: str) -> list[str]:
    return live.run("consume", topic, *options, *at(live)).stdout.splitlines()


def started(live: Live, topic: str, *options: str) -> AbstractContextManager[subprocess.Popen[str]]:
    return child(
        live.command("consume", topic, *options, *at(live)),
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=live.env,
        text=True,
    )


def test_a_copy_through_json_lines_loses_nothing(live: Live, topic: str) -> None:
    other = f"{topic}-other"
    live.run("topic", "create", other, "--partitions", "3", *at(live))
    records = [{**fields, "partition": n % 3, "timestamp": 1_600_000_000_000 + n} for n, fields in enumerate(NASTY)]
    lines = "".join(json.dumps(record) + "\n" for record in records)
    live.run("produce", topic, "--input", "jsonl", *at(live), input=lines)
    everything = ("--from-beginning", "-e", "-o", "jsonl", *at(live))
    original = live.run("consume", topic, *everything).stdout
    live.run("produce", other, "--input", "jsonl", *at(live), input=original)
    copied = live.run("consume", other, *everything).stdout
    assert sorted(copied.split("\n")) == sorted(original.split("\n"))
    found = [json.loads(line) for line in original.split("\n") if line]
    assert sorted(found, key=lambda record: record["timestamp"]) == [
        {**record, "offset": n // 3} for n, record in enumerate(records)
    ]


def test_places_to_start_from(live: Live, topic: str) -> None:
    write(live, topic, ["0", "1", "2", "3", "4"])
    assert read(live, topic, "-e") == []
    assert read(live, topic, "-e", "--from-beginning") == ["0", "1", "2", "3", "4"]
    assert read(live, topic, "-e", "--offset", "3") == ["3", "4"]
    assert read(live, topic, "-e", "--offset", "-2") == ["3", "4"]
    assert read(live, topic, "-e", "--offset", "99") == []
    assert read(live, topic, "-e", "--offset", "@0") == ["0", "1", "2", "3", "4"]
    assert read(live, topic, "-e", "--offset", f"@{int(time.time() * 1000) + 60_000}") == []
    assert read(live, topic, "--from-beginning", "-n", "2") == ["0", "1"]


def test_what_is_shown_beside_the_value(live: Live, topic: str) -> None:
    line = '{"key": "k", "value": "v", "partition": 1, "timestamp": 12, "headers": {"a": "1"}}\n'
    live.run("produce", topic, "--input", "jsonl", *at(live), input=line + '{"value": null, "partition": 1}\n')
    everything = ("-e", "--from-beginning", "-p", "1")
    assert read(live, topic, *everything, "--key") == ["k\tv", "null\tnull"]
    assert read(live, topic, *everything, "-n", "1", "--key", "--headers", "--timestamp") == ["12\ta=1\tk\tv"]
    assert read(live, topic, *everything, "-n", "1", "--show", "offset,partition") == ["1\t0\tv"]
    assert read(live, topic, *everything, "-n", "1", "--format", "%k=%v@%p:%o") == ["k=v@1:0"]


def test_it_follows_what_is_written_later_and_stops_after_n(live: Live, topic: str) -> None:
    with started(live, topic, "-n", "1") as process:
        deadline = time.monotonic() + 60
        while process.poll() is None and time.monotonic() < deadline:
            write(live, topic, ["later"])
        assert process.communicate(timeout=30) == ("later\n", "")
    assert process.returncode == 0


def test_a_group_resumes_after_what_was_written_out(live: Live, topic: str) -> None:
    write(live, topic, ["0", "1", "2", "3"])
    group = ("--group", f"{topic}-group")
    assert read(live, topic, *group, "--from-beginning", "-n", "2") == ["0", "1"]
    assert read(live, topic, *group, "-e") == ["2", "3"]
    write(live, topic, ["4"], partition=2)
    assert read(live, topic, *group, "-e") == ["4"]


def test_ctrl_c_commits_for_the_group(live: Live, topic: str) -> None:
    write(live, topic, ["0", "1"])
    group = ("--group", f"{topic}-group")
    with started(live, topic, *group, "--from-beginning") as process:
        assert process.stdout
        assert [process.stdout.readline() for _ in range(2)] == ["0\n", "1\n"]
        process.send_signal(signal.SIGINT)
        process.wait(timeout=30)
    assert process.returncode == 130
    write(live, topic, ["2"])
    assert read(live, topic, *group, "-e") == ["2"]


def test_reading_without_a_group_leaves_no_trace(live: Live, topic: str) -> None:
    write(live, topic, ["0"])
    assert read(live, topic, "--from-beginning", "-e") == ["0"]
    assert "kcluster-consume" not in live.run("group", "list", *at(live)).stdout


@pytest.mark.parametrize("records", [1, 50_000])
def test_a_reader_that_leaves_ends_it_at_once(live: Live, topic: str, records: int) -> None:
    write(live, topic, [f"{number} {'x' * 90}" for number in range(records)])
    with started(live, topic, "--from-beginning") as process:
        assert process.stdout
        os.read(process.stdout.fileno(), 10)
        process.stdout.close()
        assert process.wait(timeout=30) == 0  # also when no other record comes that could not be written
        assert process.stderr
        assert process.stderr.read() == ""


@pytest.mark.parametrize("options", [("-e",), ("-e", "--group", "empty-topic-group"), ("-e", "--from-beginning")])
def test_an_empty_topic_has_an_end_too(live: Live, topic: str, options: tuple[str, ...]) -> None:
    assert read(live, topic, *options) == []


def test_an_unknown_topic_or_partition_is_refused(live: Live, topic: str) -> None:
    done = live.run("consume", topic[:-1], *at(live), check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == f"error: there is no topic {topic[:-1]} (or this user may not see it)"
    assert topic in done.stderr.splitlines()[1]
    done = live.run("consume", topic, "-p", "3", *at(live), check=False)
    assert (done.returncode, done.stderr) == (2, f"error: {topic} has no partition 3: it has 0 to 2\n")


def test_deleted_records_do_not_hide_the_end(live: Live) -> None:
    name = "compacted_away"
    live.run("topic", "create", name, "--partitions", "1", *at(live))
    write(live, name, ["0", "1", "2"])
    lose_records(Kafka(live.bootstrap), name, 0, 3)
    assert read(live, name, "--from-beginning", "-e") == []
    write(live, name, ["3"])
    assert read(live, name, "--offset", "1", "-e", "--show", "offset") == ["3\t3"]


def test_the_first_record_comes_before_librdkafka_would_try_an_assignment_again(live: Live, topic: str) -> None:
    write(live, topic, ["first"])
    assert min(seconds_to_the_first_record(live, topic) for _ in range(5)) < 0.4


def seconds_to_the_first_record(live: Live, topic: str) -> float:
    """From the reader's start; of several the shortest says what it takes on an idle machine."""
    begun = time.monotonic()
    reader = RecordReader(Kafka(live.bootstrap), topic, ConsumeRequest(StartPosition("beginning")), [0, 1, 2])
    try:
        reader.open()
        while not reader.batch():
            assert time.monotonic() - begun < 20
        return time.monotonic() - begun
    finally:
        reader.close()


def test_a_group_of_a_local_cluster_begins_without_waiting_for_more_members(live: Live) -> None:
    shown = json.loads(live.run("broker", "config", "1", "-n", live.name, "-o", "json").stdout)
    assert {one["name"]: one["value"] for one in shown}["group.initial.rebalance.delay.ms"] == "0"
