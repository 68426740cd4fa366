from __future__ import annotations

import time
from dataclasses import dataclass
from typing import Any

from kcluster.model.verdict import Record
from kcluster.operations.proof import PARTITIONS_PER_PATH, Path, Reading, near, until_reached


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


def test_a_path_writes_first_to_its_own_broker_and_then_to_the_next_ones() -> None:
    leaders = {0: 1, 1: 2, 2: 3}
    assert near(Path(0, 2, "", "h"), leaders) == [1, 2, 0]


def test_in_a_large_cluster_every_leader_is_reached_by_as_many_paths() -> None:
    leaders = {partition: partition + 1 for partition in range(100)}
    reached = [partition for broker in leaders.values() for partition in near(Path(0, broker, "", "h"), leaders)]
    assert {reached.count(partition) for partition in leaders} == {PARTITIONS_PER_PATH}


def test_what_lies_behind_the_point_that_was_read_is_not_judged() -> None:
    reading = Reading([], unread={1: (5, 9)})
    assert reading.covers(Record(0, 0, partition=0, offset=99, checksum=0))
    assert reading.covers(Record(0, 0, partition=1, offset=4, checksum=0))
    assert not reading.covers(Record(0, 0, partition=1, offset=5, checksum=0))
