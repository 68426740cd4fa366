"""A producer that goes on while a cluster is restarted, and remembers what was acknowledged; a program of its own."""

from __future__ import annotations

import json
import select
import sys
import time
from collections.abc import Collection, Mapping, Sequence
from contextlib import suppress
from itertools import pairwise

from confluent_kafka import Consumer, KafkaError, KafkaException, Message, Producer, TopicPartition


def produce(bootstrap: str, topic: str, per_second: str, *settings: str) -> None:
    """Send numbers with acks=all until stdin ends; say how many, which were acknowledged, and how steadily."""
    acknowledged: list[int] = []
    times = [time.monotonic()]
    of_partition: dict[int, list[float]] = {}

    def delivered(error: KafkaError | None, message: Message) -> None:
        if error is None:
            acknowledged.append(int(message.value() or b""))
            times.append(time.monotonic())
            of_partition.setdefault(int(message.partition() or 0), times[:1]).append(times[-1])

    given = dict(setting.split("=") for setting in settings)
    steady = {"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 0, "log_level": 0}
    producer = Producer({**steady, **given})
    number, due = 0, time.monotonic()
    while not select.select([sys.stdin], [], [], 0)[0]:
        producer.produce(topic, str(number), key=str(number), on_delivery=delivered)
        number, due = number + 1, due + 1 / int(per_second)
        producer.poll(max(0.0, due - time.monotonic()))
    producer.flush(60)
    end = time.monotonic()
    slowest = max((longest_gap(each, end) for each in of_partition.values()), default=0.0)
    print(
        json.dumps({"sent": number, "acknowledged": acknowledged, "gap": longest_gap(times, end), "slowest": slowest})
    )


def longest_gap(times: Sequence[float], end: float) -> float:
    """The longest time without an acknowledgement; where they stop for ever, it lasts until the end of the load."""
    return round(max(later - earlier for earlier, later in pairwise([*times, end])), 2)


def consume(bootstrap: str, topic: str) -> None:
    """Say which numbers are in the topic, and what of a partition no reader got although it should be there."""
    found: dict[tuple[int, int], int] = {}
    for _ in range(3):  # gone is only what a fresh reader does not find either
        ends = read(bootstrap, topic, found, time.monotonic() + 60)
        if not (unread := missing(ends, found)):
            break
        print(f"{topic}: not read: {unread}", file=sys.stderr)
    print(json.dumps({"numbers": sorted(found.values()), "unread": unread}))


def read(bootstrap: str, topic: str, found: dict[tuple[int, int], int], deadline: float) -> dict[int, int]:
    """Note each record at its place, until all are there or the time is over; the ends of the partitions."""
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "unused", "log_level": 0})
    ends = ends_of(consumer, topic, deadline)
    consumer.assign([TopicPartition(topic, part, 0) for part in ends])
    while missing(ends, found) and time.monotonic() < deadline:
        for message in consumer.consume(1000, timeout=1):
            if message.error():
                print(f"{topic}: {message.error()}", file=sys.stderr)
            else:
                found[message.partition(), message.offset()] = int(message.value() or b"")
    consumer.close()
    return ends


def missing(ends: Mapping[int, int], found: Collection[tuple[int, int]]) -> dict[int, str]:
    """How much of each partition is not there, where something is missing."""
    there = {part: {offset for each, offset in found if each == part} for part in ends}
    gaps = {part: sorted({*range(end)} - there[part]) for part, end in ends.items()}
    return {part: f"{len(gap)} of {ends[part]}, from {gap[0]} to {gap[-1]}" for part, gap in gaps.items() if gap}


def ends_of(consumer: Consumer, topic: str, deadline: float) -> dict[int, int]:
    """The end of each partition, once its leader says it: after a restart clients may still know another one."""
    while True:
        with suppress(KafkaException):
            parts = consumer.list_topics(topic, timeout=15).topics[topic].partitions
            ends = {part: consumer.get_watermark_offsets(TopicPartition(topic, part), timeout=15)[1] for part in parts}
            if ends:
                return ends
        if time.monotonic() > deadline:
            raise TimeoutError(f"no leader tells the ends of {topic}")
        time.sleep(0.1)


if __name__ == "__main__":
    {"produce": produce, "consume": consume}[sys.argv[1]](*sys.argv[2:])
