"""The evidence of a smoke test, and what follows from it: rows, verdict, problems and what was not tested."""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence, Set
from dataclasses import dataclass, replace
from math import ceil

from kcluster.model.broker import Broker
from kcluster.results import counted
from kcluster.smoke.group_failover import GroupFailover
from kcluster.smoke.replica_reads import ReplicaVerdict
from kcluster.smoke.result import SmokeRow
from kcluster.smoke.traffic import ProducedRecords, ReadRecords, WritePath
from kcluster.smoke.verdict import Verdict, judge, judge_resume


@dataclass(frozen=True)
class Evidence:
    """What was written, how the group resumed, what was read, and what each replica has of it."""

    produced: ProducedRecords
    failover: GroupFailover
    read: ReadRecords
    replicas: Sequence[ReplicaVerdict] = ()


def paths_into(brokers: Sequence[Broker], alive: Mapping[int, str], protocol: str) -> list[WritePath]:
    """Every listener of every living broker that speaks the client's protocol; without brokers, the metadata's."""
    listeners = [
        (broker.id, listener.label, listener.address)
        for broker in brokers
        for listener in broker.listeners
        if broker.id in alive and listener.protocol == protocol
    ]
    endpoints = listeners or [(broker, "", address) for broker, address in sorted(alive.items())]
    return [WritePath(number, *endpoint) for number, endpoint in enumerate(endpoints)]


def left_out(brokers: Sequence[Broker], alive: Mapping[int, str], protocol: str) -> list[str]:
    """What was not tested for want of knowledge or a login, and why."""
    if not brokers:
        return [
            "listeners other than that of the bootstrap address, and whether min.insync.replicas is as declared "
            "(name the inventory with -i INV)"
        ]
    unknown = sorted(alive.keys() - {broker.id for broker in brokers})
    others = [listener for broker in brokers for listener in broker.listeners if listener.protocol != protocol]
    reasons = [
        *(f"listeners of broker {broker}: it is not in the inventory" for broker in unknown),
        *(
            f"listener {listener.label}: its protocol is {listener.protocol}, the client's {protocol} "
            "(see --client-config)"
            for listener in others
        ),
    ]
    return list(dict.fromkeys(reasons))


def rows_of(paths: Sequence[WritePath], leaders: Mapping[int, int], evidence: Evidence) -> list[SmokeRow]:
    """What was written and read, by broker and listener."""
    listeners = {path.number: path.listener for path in paths}
    read = {(record.partition, record.offset, record.sequence) for record in evidence.read.records}
    return [_row(path, leaders, listeners, read, evidence.produced) for path in paths]


def _row(
    path: WritePath,
    leaders: Mapping[int, int],
    listeners: Mapping[int, str],
    read: Set[tuple[int, int, int]],
    produced: ProducedRecords,
) -> SmokeRow:
    led = [
        record
        for record in produced.acknowledged
        if leaders[record.partition] == path.broker and listeners[record.path] == path.listener
    ]
    times = sorted(
        produced.latencies[record.sequence] * 1000 for record in led if record.sequence in produced.latencies
    )
    return SmokeRow(
        broker=path.broker,
        listener=path.listener,
        address=path.address,
        entered=sum(record.path == path.number for record in produced.acknowledged),
        acknowledged=len(led),
        seen=sum((record.partition, record.offset, record.sequence) in read for record in led),
        p50_ms=_percentile(times, 0.50),
        p99_ms=_percentile(times, 0.99),
    )


def _percentile(times: Sequence[float], share: float) -> float | None:
    """The time that this share of the records did not exceed."""
    return round(times[max(0, ceil(share * len(times)) - 1)], 2) if times else None


def verdict_of(evidence: Evidence) -> Verdict:
    """The verdict on what could be read, and on the group failover."""
    reachable = [record for record in evidence.produced.acknowledged if evidence.read.covers(record)]
    undelivered = [record.sequence for record in evidence.produced.undelivered]
    verdict = judge(reachable, evidence.read.records, undelivered)
    failover = evidence.failover
    if failover.failure:
        return verdict
    return replace(verdict, faults=(*verdict.faults, *judge_resume(failover.commits, failover.ends, failover.resumed)))


def absent(brokers: Sequence[Broker], alive: Mapping[int, str]) -> Iterator[str]:
    """A problem for each broker of the inventory that is not registered in the cluster."""
    for broker in brokers:
        if broker.id not in alive:
            yield f"broker {broker.id} ({broker.internal.address}) is not in the cluster"


def problems_of(paths: Sequence[WritePath], leaders: Mapping[int, int], evidence: Evidence) -> Iterator[str]:
    """What could not be tested, and why."""
    for path in paths:
        failed = [record for record in evidence.produced.undelivered if record.path == path.number]
        unsent = evidence.produced.unsent.get(path.number, 0)
        if failed:
            yield f"through {path}: {counted(len(failed), 'record')} without an acknowledgement: {failed[0].reason}"
        elif unsent:
            yield f"through {path}: {counted(unsent, 'record')} not sent in time (see --timeout)"
    if evidence.failover.failure:
        yield f"group failover failed: {evidence.failover.failure}"
    for partition, (reached, end) in evidence.read.unread.items():
        yield f"partition {partition} (broker {leaders[partition]}): read only to offset {reached} of {end}"
    for replica in evidence.replicas:
        if replica.fault:
            yield (
                f"replica of partition {replica.partition} on broker {replica.broker} {replica.fault} "
                "(see kcluster health, and the broker's log)"
            )
