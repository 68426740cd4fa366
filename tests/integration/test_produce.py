"""`kcluster produce` on a real cluster: what is acknowledged, where it lands, and what is refused."""

from __future__ import annotations

import json
import signal
import subprocess
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING

import pytest

from tests.children import child

if TYPE_CHECKING:
    from conftest import Live

JAVA = {
    # The values of Kafka's own UtilsTest.testMurmur2: what its Java clients compute.
    b"21": -973932308,
    b"foobar": -790332482,
    b"a-little-bit-long-string": -985981536,
    b"a-little-bit-longer-string": -1486304829,
    b"lkjh234lh9fiuh90y23oiuhsafujhadof229phr9h19h89h8": -58897971,
    b"abc": 479470107,
}


def murmur2(data: bytes) -> int:
    """The hash of Java's default partitioner, written here once more so that the test has its own opinion."""
    magic, mask = 0x5BD1E995, 0xFFFFFFFF
    value = (0x9747B28C ^ len(data)) & mask
    whole = len(data) & ~3
    for start in range(0, whole, 4):
        k = int.from_bytes(data[start : start + 4], "little") * magic & mask
        k = (k ^ k >> 24) * magic & mask
        value = (value * magic & mask) ^ k
    if rest := data[whole:]:
        value = (value ^ int.from_bytes(rest, "little")) * magic & mask
    value = (value ^ value >> 13) * magic & mask
    value ^= value >> 15
    return value - 2**32 if value >= 2**31 else value


def at(live: Live) -> tuple[str, str]:
    return "--bootstrap", live.bootstrap


@pytest.fixture
def topic(live: Live, request: pytest.FixtureRequest) -> str:
    """A topic of its own for a test, with six partitions."""
    name = request.node.name.replace("[", "-").rstrip("]")[:200]
    live.run("topic", "create", name, "--partitions", "6", *at(live))
    return name


@pytest.fixture
def read(live: Live, topic: str) -> Callable[[], list[dict[str, object]]]:
    """Everything that is in the topic now, as JSON records."""

    def everything() -> list[dict[str, object]]:
        out = live.run("consume", topic, "--from-beginning", "-e", "-o", "jsonl", *at(live)).stdout
        return [json.loads(line) for line in out.split("\n") if line]

    return everything


def test_keys_land_where_java_clients_put_them(
    live: Live, topic: str, read: Callable[[], list[dict[str, str]]]
) -> None:
    assert {key: murmur2(key) for key in JAVA} == JAVA
    keys = [*(key.decode() for key in JAVA), "", "é", "ключ", "鍵🗝", *(f"user-{number}" for number in range(300))]
    live.run("produce", topic, "--key-separator", "|", *at(live), input="".join(f"{key}|v\n" for key in keys))
    found = {record["key"]: record["partition"] for record in read()}
    assert found == {key: (murmur2(key.encode()) & 0x7FFFFFFF) % 6 for key in keys}
    assert set(found.values()) == set(range(6))


def test_lines_are_counted_kept_in_order_and_may_be_empty(
    live: Live, topic: str, read: Callable[[], list[dict[str, object]]]
) -> None:
    done = live.run("produce", topic, "--partition", "2", *at(live), input="a\n\nc\r\nlast")
    assert done.stdout == f"4 records acknowledged by {topic}\n"
    assert [(record["partition"], record["value"]) for record in read()] == [(2, v) for v in ("a", "", "c\r", "last")]


def test_many_records_without_a_key_are_spread_and_all_there(live: Live, topic: str, tmp_path: Path) -> None:
    lines = [f"{number:06d} {'x' * 90}" for number in range(200_000)]
    file = tmp_path / "lines.txt"
    file.write_text("\n".join(lines) + "\n")
    done = live.run("produce", topic, "--file", str(file), "-o", "json", *at(live))
    assert json.loads(done.stdout) == {
        "topic": topic,
        "sent": 200_000,
        "acknowledged": 200_000,
        "interrupted": False,
    }
    out = live.run("consume", topic, "--from-beginning", "-e", "--show", "partition", *at(live)).stdout
    found = [line.split("\t") for line in out.splitlines()]
    assert sorted(value for _, value in found) == lines
    assert len({partition for partition, _ in found}) > 2  # chosen by chance for each batch, so hardly ever only two
    for partition in range(6):
        mine = [value for part, value in found if part == str(partition)]
        assert mine == sorted(mine)


def test_headers_a_fixed_key_and_tombstones(
    live: Live, topic: str, read: Callable[[], list[dict[str, object]]]
) -> None:
    options = ["--key", "k", "--null", "", "-H", "source=tést", "-H", "empty="]
    live.run("produce", topic, *options, "--compression", "zstd", *at(live), input="v\n\n")
    headers = [{"key": "source", "value": "tést"}, {"key": "empty", "value": ""}]
    assert [(r["key"], r["value"], r["headers"]) for r in read()] == [("k", "v", headers), ("k", None, headers)]


def test_acks_1_counts_what_the_leader_has(live: Live, topic: str) -> None:
    done = live.run("produce", topic, "--acks", "1", *at(live), input="a\nb\n")
    assert done.stdout == f"2 records acknowledged by {topic}\n"


def test_acks_0_claims_nothing(live: Live, topic: str) -> None:
    done = live.run("produce", topic, "--acks", "0", *at(live), input="a\n")
    assert done.stdout == f"1 record sent to {topic}, not acknowledged (acks=0)\n"


def test_an_unknown_topic_is_refused_with_near_names_and_not_created(live: Live, topic: str) -> None:
    wrong = topic.replace("unknown", "unkonwn")
    done = live.run("produce", wrong, *at(live), input="a\n", check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines()[0] == f"error: there is no topic {wrong} (or this user may not see it)"
    assert topic in done.stderr.splitlines()[1]
    assert wrong not in live.run("topic", "list", *at(live)).stdout


def test_a_bad_json_line_is_named_and_what_came_before_is_kept(
    live: Live, topic: str, read: Callable[[], list[dict[str, object]]]
) -> None:
    lines = '{"value": "1"}\n{"value": "2"}\n{"value": 3}\n{"value": "4"}\n'
    done = live.run("produce", topic, "--input", "jsonl", *at(live), input=lines, check=False)
    assert done.returncode == 2
    assert done.stderr.splitlines()[:2] == [
        "error: line 3 of the input is not a record: `value` must be a string or null, not a number",
        "  2 records before it: sent and acknowledged",
    ]
    assert sorted(str(record["value"]) for record in read()) == ["1", "2"]


def test_a_partition_that_is_not_there_is_refused(live: Live, topic: str) -> None:
    done = live.run("produce", topic, "--partition", "6", *at(live), input="a\n", check=False)
    assert (done.returncode, done.stderr.splitlines()[0]) == (
        2,
        f"error: {topic} has no partition 6: it has 0 to 5",
    )
    line = '{"value": "a", "partition": 7}'
    done = live.run("produce", topic, "--input", "jsonl", *at(live), input=line, check=False)
    assert done.returncode == 2
    assert f"error: line 1 of the input is not a record: {topic} has no partition 7:" in done.stderr


def test_a_record_that_is_too_large_is_counted_and_the_others_are_kept(
    live: Live, topic: str, read: Callable[[], list[dict[str, object]]]
) -> None:
    text = f"small\n{'x' * 1_500_000}\nsmall too\n"
    done = live.run("produce", topic, *at(live), input=text, check=False)
    assert done.returncode == 5
    assert done.stderr.splitlines() == [
        f"error: 1 of 3 records not acknowledged by {topic}",
        f"  the first one: a value of 1,500,000 bytes is larger than {topic} accepts",
        f"  try: kcluster topic alter {topic} -c max.message.bytes=1501024",
    ]
    assert sorted(str(record["value"]) for record in read()) == ["small", "small too"]


def test_a_topic_that_takes_only_small_batches_still_gets_everything(live: Live) -> None:
    name = "only_small_batches"
    live.run("topic", "create", name, "--partitions", "1", "-c", "max.message.bytes=2000", *at(live))
    done = live.run("produce", name, *at(live), input="x" * 100 + "\n" + ("y" * 100 + "\n") * 5000)
    assert done.stdout == f"5,001 records acknowledged by {name}\n"


def test_ctrl_c_sends_what_was_read_and_says_how_much(
    live: Live, topic: str, read: Callable[[], list[dict[str, object]]]
) -> None:
    with child(
        live.command("produce", topic, *at(live)),
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        env=live.env,
        text=True,
    ) as process:
        assert process.stdin
        process.stdin.write("one\ntwo\nthr")  # the rest of the third is never read
        process.stdin.flush()
        while len(read()) < 2:  # it does not wait for the end of its input to send
            assert process.poll() is None
        process.send_signal(signal.SIGINT)
        out, _ = process.communicate(timeout=30)
    assert process.returncode == 130
    assert out == f"interrupted: 2 records acknowledged by {topic}\n"
    assert len(read()) == 2


def test_a_cluster_that_does_not_answer_is_named_within_five_seconds(live: Live) -> None:
    done = live.run("produce", "t", "--bootstrap", "127.0.0.1:1", input="a\n", check=False)
    assert done.returncode == 6
    assert done.stderr.startswith("error: no broker answers at 127.0.0.1:1\n")
