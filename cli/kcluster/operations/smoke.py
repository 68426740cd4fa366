"""The smoke test: write numbered records through every broker and listener, and read every acknowledged one again."""

from __future__ import annotations

import secrets
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from typing import TYPE_CHECKING

from kcluster import interrupt
from kcluster.results import Progress, counted
from kcluster.smoke import evidence
from kcluster.smoke.evidence import Evidence
from kcluster.smoke.group_failover import FailoverGroup
from kcluster.smoke.result import SmokeResult
from kcluster.smoke.temporary_topic import topic_led_by_each_broker
from kcluster.smoke.traffic import Load, WritePath, read, write

if TYPE_CHECKING:
    from kcluster.clients.kafka import Kafka
    from kcluster.model.broker import Broker

PREFIX = "kcluster-smoke-"


def smoke(
    kafka: Kafka,
    brokers: Sequence[Broker] = (),
    *,
    messages: int = 1000,
    keep: bool = False,
    timeout: float = 25.0,
    progress: Progress = lambda _: None,
    before_read: Callable[[str], None] = lambda _: None,
) -> SmokeResult:
    """Write, fail over within a group, read again, and judge; blocks for about `timeout` seconds at most.

    The listeners are those of `brokers`; without it the addresses come from the cluster's metadata. `before_read`
    is called with the topic's name before the full read. Raises UnreachableError without any broker, RefusedError
    when the temporary topic cannot be created.
    """
    started = time.monotonic()
    alive = {broker.id: f"{broker.host}:{broker.port}" for broker in kafka.metadata().brokers.values()}
    protocol = kafka.config.get("security.protocol", "PLAINTEXT").upper()
    paths = evidence.paths_into(brokers, alive, protocol)
    topic = PREFIX + secrets.token_hex(4)
    temporary = topic_led_by_each_broker(
        kafka, topic, sorted(alive), keep=keep, within=timeout * 0.35, progress=progress
    )
    # However it ends, the topic is deleted.
    with interrupt.raised(signal.SIGTERM, signal.SIGHUP), temporary as leaders:
        load = Load(topic, topic.removeprefix(PREFIX), leaders, messages)
        gathered = _gather(kafka, load, paths, started, timeout, progress, before_read)
    return SmokeResult(
        topic=topic,
        kept=keep,
        rows=evidence.rows_of(paths, leaders, gathered),
        verdict=evidence.verdict_of(gathered),
        leaders=leaders,
        resumed=len(gathered.failover.resumed),
        problems=[*evidence.absent(brokers, alive), *evidence.problems_of(paths, leaders, gathered)],
        left_out=evidence.left_out(brokers, protocol),
        seconds=time.monotonic() - started,
    )


def _gather(
    kafka: Kafka,
    load: Load,
    paths: Sequence[WritePath],
    started: float,
    timeout: float,
    progress: Progress,
    before_read: Callable[[str], None],
) -> Evidence:
    """The steps one after the other, each with its share of the time, so that a stuck one leaves some to the next."""
    with closing(FailoverGroup(kafka, load.topic)) as group:
        progress(
            f"writing through {counted(len(paths), 'address', 'addresses')} to {counted(len(load.leaders), 'leader')}"
        )
        produced = write(kafka, load, paths, started + timeout * 0.6)
        progress("reading with a group whose consumer is replaced in the middle")
        failover = group.fail_over(load.leaders, started + timeout * 0.8)
    before_read(load.topic)
    progress("reading all records again")
    return Evidence(produced, failover, read(kafka, load.topic, load.run, load.leaders, started + timeout))
