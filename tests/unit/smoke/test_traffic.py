from __future__ import annotations

import time
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any, cast

from kcluster.smoke import traffic
from kcluster.smoke.traffic import PARTITIONS_PER_PATH, ReadRecords, WritePath, target_partitions, until_reached
from kcluster.smoke.verdict import SmokeRecord, encode


@dataclass
class EndOfPartition:
    def name(self) -> str:
        return "_PARTITION_EOF"


@dataclass
class Told:
    """What a consumer hands over: a message, or the news that a partition is at its end."""

    at: tuple[int, int]
    fault: EndOfPartition | None = None

    def partition(self) -> int:
        return self.at[0]

    def offset(self) -> int:
        return self.at[1]

    def error(self) -> EndOfPartition | None:
        return self.fault


class Consumer:
    def __init__(self, *rounds: list[Told]) -> None:
        self._rounds = list(rounds)

    def consume(self, number: int, timeout: float) -> list[Any]:
        return self._rounds.pop(0) if self._rounds else []


def read(consumer: Any, goals: dict[int, int], within: float = 5.0) -> tuple[list[tuple[int, int]], dict[int, int]]:
    reached: dict[int, int] = {}
    messages = until_reached(consumer, goals, reached, time.monotonic() + within)
    return [(message.partition() or 0, message.offset() or 0) for message in messages], reached


def test_reading_ends_when_every_partition_has_reached_its_goal() -> None:
    consumer = Consumer([Told((0, 0)), Told((1, 0))], [Told((0, 1))], [Told((0, 2))])
    assert read(consumer, {0: 2, 1: 1}) == ([(0, 0), (1, 0), (0, 1)], {0: 2, 1: 1})


def test_the_end_of_a_partition_counts_although_nothing_was_left_in_it() -> None:
    assert read(Consumer([Told((0, 7), EndOfPartition())]), {0: 7}) == ([], {0: 7})


def test_an_end_before_the_goal_is_waited_out() -> None:
    assert read(Consumer([Told((0, 3), EndOfPartition())]), {0: 7}, within=0.05) == ([], {0: 3})


def test_an_empty_partition_needs_no_reading() -> None:
    assert read(Consumer(), {0: 0}, within=60) == ([], {})


class Kafka:
    """Two partitions of three records, and clients of which each skips something."""

    def __init__(self, *skipped: Sequence[tuple[int, int]]) -> None:
        self._clients = [Client([at for at in PLACES if at not in left_out]) for left_out in skipped]

    def consumer(self, **_: Any) -> Client:
        return self._clients.pop(0)


class Client(Consumer):
    def __init__(self, places: Sequence[tuple[int, int]]) -> None:
        super().__init__()
        self._places = places

    def get_watermark_offsets(self, *_: Any, **__: Any) -> tuple[int, int]:
        return 0, 3

    def assign(self, partitions: Sequence[Any]) -> None:
        chosen = {each.partition for each in partitions}
        self._rounds = [[Stored(at) for at in self._places if at[0] in chosen]]

    def close(self) -> None:
        pass


class Stored(Told):
    def value(self) -> bytes:
        return encode("run", 0, 10 * self.at[0] + self.at[1])


PLACES = [(partition, offset) for partition in (0, 1) for offset in range(3)]


def places_read(*skipped: Sequence[tuple[int, int]]) -> list[tuple[int, int]]:
    told = traffic.read(cast("Any", Kafka(*skipped)), "t", "run", [0, 1], time.monotonic() + 5)
    assert not told.unread
    return [(record.partition, record.offset) for record in told.records]


def test_what_a_client_skips_is_read_by_a_fresh_one_and_the_order_stays() -> None:
    assert places_read([]) == PLACES
    assert sorted(places_read([(0, 0), (0, 1)], [])) == PLACES
    assert [offset for partition, offset in places_read([(0, 0)], []) if partition == 0] == [0, 1, 2]


def test_what_no_client_finds_is_missing() -> None:
    assert sorted(places_read([(1, 0)], [(1, 0)])) == [at for at in PLACES if at != (1, 0)]


def test_a_path_writes_first_to_its_own_broker_and_then_to_the_next_ones() -> None:
    leaders = {0: 1, 1: 2, 2: 3}
    assert target_partitions(WritePath(0, 2, "", "h"), leaders) == [1, 2, 0]


def test_in_a_large_cluster_every_leader_is_reached_by_as_many_paths() -> None:
    leaders = {partition: partition + 1 for partition in range(100)}
    reached = [
        partition
        for broker in leaders.values()
        for partition in target_partitions(WritePath(0, broker, "", "h"), leaders)
    ]
    assert {reached.count(partition) for partition in leaders} == {PARTITIONS_PER_PATH}


def test_the_span_of_a_partition_is_from_its_first_record_to_behind_its_last() -> None:
    records = [SmokeRecord(0, 0, partition, offset, 0) for partition, offset in [(0, 4), (0, 5), (2, 0), (0, 6)]]
    assert ReadRecords(records).spans == {0: (4, 7), 2: (0, 1)}


def test_what_lies_behind_the_point_that_was_read_is_not_judged() -> None:
    reading = ReadRecords([], unread={1: (5, 9)})
    assert reading.covers(SmokeRecord(0, 0, partition=0, offset=99, checksum=0))
    assert reading.covers(SmokeRecord(0, 0, partition=1, offset=4, checksum=0))
    assert not reading.covers(SmokeRecord(0, 0, partition=1, offset=5, checksum=0))
