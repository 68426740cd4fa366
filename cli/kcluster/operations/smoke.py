"""The smoke test: write numbered records through every broker and listener, and read every acknowledged one again."""

from __future__ import annotations

import secrets
import signal
import time
from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from kcluster import interrupt
from kcluster.errors import KclusterError, UnreachableError
from kcluster.model.running import ProcessState, Running
from kcluster.results import Progress, counted, few
from kcluster.smoke import evidence, min_insync
from kcluster.smoke.evidence import Evidence
from kcluster.smoke.group_failover import FailoverGroup
from kcluster.smoke.replica_reads import judge_replicas, read_replicas
from kcluster.smoke.result import SmokeResult
from kcluster.smoke.temporary_topic import topic_led_by_each_broker
from kcluster.smoke.traffic import Load, WritePath, read, write

if TYPE_CHECKING:
    from kcluster.clients.kafka import Kafka
    from kcluster.clients.ssh import Connections
    from kcluster.model.cluster import Cluster

T = TypeVar("T")

PREFIX = "kcluster-smoke-"


def smoke(
    kafka: Kafka,
    cluster: Cluster | None = None,
    *,
    messages: int = 1000,
    keep: bool = False,
    timeout: float = 25.0,
    progress: Progress = lambda _: None,
    before_read: Callable[[str], None] = lambda _: None,
    hosts: Callable[[], Connections] | None = None,
) -> SmokeResult:
    """Write, fail over within a group, read again from leaders and replicas, and judge.

    Blocks for about `timeout` seconds at most. The listeners and the declared min.insync.replicas are those of
    `cluster`; without it the addresses come from the metadata of the brokers. `before_read`
    is called with the topic's name before the full read. Raises UnreachableError without any broker, which says
    of `hosts` whether brokers run, and RefusedError when the temporary topic cannot be created.
    """
    started = time.monotonic()
    brokers = cluster.brokers if cluster else ()
    alive = _alive(kafka, cluster, hosts)
    protocol = kafka.config.get("security.protocol", "PLAINTEXT").upper()
    paths = evidence.paths_into(brokers, alive, protocol)
    untested = evidence.left_out(brokers, alive, protocol)
    too_low = (
        _tested(min_insync.PROPERTY, lambda: min_insync.too_low(kafka, cluster, alive), untested) if cluster else []
    )
    topic = PREFIX + secrets.token_hex(4)
    temporary = topic_led_by_each_broker(
        kafka, topic, sorted(alive), keep=keep, within=timeout * 0.35, progress=progress
    )
    # However it ends, the topic is deleted.
    with interrupt.raised(signal.SIGTERM, signal.SIGHUP), temporary as leaders:
        load = Load(topic, topic.removeprefix(PREFIX), leaders, messages)
        gathered = _gather(kafka, load, paths, started, timeout, progress, before_read)
        progress("reading each replica")
        reads = _tested(
            "replicas on followers",
            lambda: read_replicas(kafka, topic, gathered.read.spans, alive, started + timeout),
            untested,
        )
        gathered = replace(gathered, replicas=judge_replicas(reads, leaders))
    return SmokeResult(
        topic=topic,
        kept=keep,
        rows=evidence.rows_of(paths, leaders, gathered),
        verdict=evidence.verdict_of(gathered),
        leaders=leaders,
        resumed=len(gathered.failover.resumed),
        problems=[*evidence.absent(brokers, alive), *too_low, *evidence.problems_of(paths, leaders, gathered)],
        left_out=untested,
        seconds=time.monotonic() - started,
        replicas=gathered.replicas,
    )


def _alive(kafka: Kafka, cluster: Cluster | None, hosts: Callable[[], Connections] | None) -> dict[int, str]:
    try:
        return {broker.id: f"{broker.host}:{broker.port}" for broker in kafka.metadata().brokers.values()}
    except UnreachableError as problem:
        if not (cluster and hosts):
            raise
        from kcluster.facts.running import observed

        with hosts() as connections:
            running = observed(Running(cluster), cluster.brokers, connections)
        living = [broker.name for broker in cluster.brokers if running.process(broker) is ProcessState.LISTENING]
        if not living:
            raise
        moved = [f"{name} {where}" for name, where in running.moved(cluster).items()]
        raise UnreachableError(
            f"this machine reaches no broker of {cluster.name}, and {len(living)} of {len(cluster.brokers)} run"
            f" on their hosts: {few(living)}",
            details="\n".join([problem.message, *moved]),
            resolution="provision the addresses that the inventory has: kcluster plan"
            if moved
            else "let this machine through to the listeners (kcluster check names the ports), or run it elsewhere",
        ) from problem


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
    return Evidence(produced, failover, read(kafka, load.topic, load.run, load.leaders, started + timeout * 0.9))


def _tested(part: str, test: Callable[[], list[T]], untested: list[str]) -> list[T]:
    """What this part of the test gives; where it is refused nothing, and the reason is added to what was not tested."""
    try:
        return test()
    except KclusterError as problem:
        untested.append(f"{part}: {problem.message}")
        return []
