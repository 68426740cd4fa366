"""The proof that a cluster keeps what it acknowledges, with real records on a throw-away topic."""

from __future__ import annotations

import secrets
import time
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence, Set
from contextlib import closing
from dataclasses import asdict, dataclass, replace
from math import ceil
from typing import TYPE_CHECKING, Any

from kcluster.errors import ExitCode
from kcluster.results import Block, Cell, Grid, Progress, Result, Tone
from kcluster.smoke.group_failover import FailoverGroup, GroupFailover
from kcluster.smoke.temporary_topic import interrupted_by_signals, topic_led_by_each_broker
from kcluster.smoke.traffic import Load, ProducedRecords, ReadRecords, WritePath, read, write
from kcluster.smoke.verdict import Verdict, judge, judge_resume

if TYPE_CHECKING:
    from kcluster.clients.kafka import Kafka
    from kcluster.model.broker import Broker

PREFIX = "kcluster-smoke-"
FIRST = 5
"""How many faults are named; the rest is counted."""


@dataclass(frozen=True)
class SmokeRow:
    """What was proven of one broker at one listener."""

    broker: int
    listener: str
    address: str
    entered: int
    """Acknowledged records that came in with this address as the only bootstrap."""
    acknowledged: int
    """Acknowledged records that this broker led, written through this listener."""
    seen: int
    p50_ms: float | None
    p99_ms: float | None


@dataclass(frozen=True)
class Smoke(Result):
    """The verdict of the proof, with what it rests on."""

    topic: str
    kept: bool
    rows: Sequence[SmokeRow]
    verdict: Verdict
    leaders: Mapping[int, int]
    """Which broker led which partition."""
    resumed: int
    """Records the group's second consumer read, beginning at the commits of the first."""
    problems: Sequence[str]
    """What kept the proof from being complete."""
    left_out: Sequence[str]
    seconds: float

    @property
    def holds(self) -> bool:
        """Whether all was proven and nothing was lost."""
        return self.verdict.holds and not self.problems

    @property
    def exit_code(self) -> ExitCode:
        """NO when anything acknowledged was not kept, or could not be asked."""
        return ExitCode.DONE if self.holds else ExitCode.NO

    def data(self) -> Any:
        """The fields, the verdict in one word, and the broker of each fault."""
        faults = [{"broker": self.leaders.get(fault.partition), **asdict(fault)} for fault in self.verdict.faults]
        return {"holds": self.holds, **asdict(self), "verdict": {**asdict(self.verdict), "faults": faults}}

    def view(self) -> Iterable[Block]:
        """A row for each broker and listener, the first faults, and the verdict."""
        columns = ("BROKER", "LISTENER", "ADDRESS", "ENTERED", "ACKED", "SEEN", "P50", "P99")
        yield Grid(columns, [self._cells(row) for row in self.rows])
        yield from (f"left out: {what}" for what in self.left_out)
        yield Grid(("FAULT", "BROKER", "PARTITION", "OFFSET", "SEQUENCE", "DETAIL"), self._first_faults())
        if len(self.verdict.faults) > FIRST:
            yield f"... and {len(self.verdict.faults) - FIRST} more"
        yield from (Cell(problem, Tone.BAD) for problem in self.problems)
        if self.kept:
            yield f"kept: topic {self.topic}"
        yield Cell(self.sentence, Tone.GOOD if self.holds else Tone.BAD)

    def _cells(self, row: SmokeRow) -> list[str | Cell]:
        counts = (row.entered, row.acknowledged, row.seen)
        bad = row.seen < row.acknowledged or row.entered == 0
        numbers = [Cell(str(number), Tone.BAD if bad else Tone.PLAIN) for number in counts]
        return [
            str(row.broker),
            row.listener,
            row.address,
            *numbers,
            _milliseconds(row.p50_ms),
            _milliseconds(row.p99_ms),
        ]

    def _first_faults(self) -> list[list[str | Cell]]:
        return [
            [
                Cell(fault.flaw, Tone.BAD),
                str(self.leaders.get(fault.partition, "")),
                str(fault.partition),
                str(fault.offset),
                str(fault.sequence),
                fault.detail,
            ]
            for fault in self.verdict.faults[:FIRST]
        ]

    @property
    def sentence(self) -> str:
        """The verdict in one line."""
        verdict = self.verdict
        counted = f"{verdict.acknowledged} acknowledged, {verdict.seen} seen, {verdict.duplicates} duplicates"
        unknown = f", {verdict.indeterminate} without an answer" if verdict.indeterminate else ""
        answer = "holds" if self.holds else "does not hold"
        resumed = f", {self.resumed} read after the handover" if self.resumed else ""
        return f"the proof {answer}: {counted}{unknown}{resumed}, in {self.seconds:.1f} s"


@dataclass(frozen=True)
class Evidence:
    """What the steps of the proof brought to light."""

    written: ProducedRecords
    handover: GroupFailover
    reading: ReadRecords


def smoke(
    kafka: Kafka,
    brokers: Sequence[Broker] = (),
    *,
    messages: int = 1000,
    handover: bool = True,
    keep: bool = False,
    timeout: float = 25.0,
    progress: Progress = lambda _: None,
    between: Callable[[str], None] = lambda _: None,
) -> Smoke:
    """Write, hand over within a group, read again, and judge.

    `brokers` tells the listeners; without it the addresses come from the cluster's metadata. `between` is
    called with the topic's name before the full read: whatever happens there must not cost a record.
    """
    started = time.monotonic()
    alive = {broker.id: f"{broker.host}:{broker.port}" for broker in kafka.metadata().brokers.values()}
    protocol = kafka.config.get("security.protocol", "PLAINTEXT").upper()
    paths = paths_into(brokers, alive, protocol)
    topic = PREFIX + secrets.token_hex(4)
    making = topic_led_by_each_broker(kafka, topic, sorted(alive), keep=keep, within=timeout * 0.35, progress=progress)
    with interrupted_by_signals(), making as leaders:
        load = Load(topic, topic.removeprefix(PREFIX), leaders, messages)
        evidence = _gather(kafka, load, paths, started, timeout, progress, between)
    return Smoke(
        topic=topic,
        kept=keep,
        rows=rows_of(paths, leaders, evidence),
        verdict=verdict_of(evidence),
        leaders=leaders,
        resumed=len(evidence.handover.resumed),
        problems=[*_absent(brokers, alive), *problems_of(paths, leaders, evidence)],
        left_out=left_out(brokers, protocol),
        seconds=time.monotonic() - started,
    )


def _gather(
    kafka: Kafka,
    load: Load,
    paths: Sequence[WritePath],
    started: float,
    timeout: float,
    progress: Progress,
    between: Callable[[str], None],
) -> Evidence:
    """The steps one after the other, each with its share of the time, so that a stuck one leaves some to the next."""
    with closing(FailoverGroup(kafka, load.topic)) as group:
        progress(f"writing through {len(paths)} addresses to {len(load.leaders)} leaders")
        written = write(kafka, load, paths, started + timeout * 0.6)
        progress("reading with a group that changes its consumer in the middle")
        handover = group.hand_over(load.leaders, started + timeout * 0.8)
    between(load.topic)
    progress("reading everything again")
    return Evidence(written, handover, read(kafka, load.topic, load.run, load.leaders, started + timeout))


def paths_into(brokers: Sequence[Broker], alive: Mapping[int, str], protocol: str) -> list[WritePath]:
    """Every listener of every living broker that this client can speak to."""
    told = [
        (broker.id, listener.label, listener.address)
        for broker in brokers
        for listener in broker.listeners
        if broker.id in alive and listener.protocol == protocol
    ]
    found = told or [(broker, "", address) for broker, address in sorted(alive.items())]
    return [WritePath(number, *entry) for number, entry in enumerate(found)]


def left_out(brokers: Sequence[Broker], protocol: str) -> list[str]:
    """The listeners that were not tried, and why."""
    if not brokers:
        return ["other listeners than the one of the bootstrap address: only an inventory tells them"]
    others = [listener for broker in brokers for listener in broker.listeners if listener.protocol != protocol]
    return list(
        dict.fromkeys(
            f"listener {listener.label}: it speaks {listener.protocol}, this client {protocol} (see --client-config)"
            for listener in others
        )
    )


def rows_of(paths: Sequence[WritePath], leaders: Mapping[int, int], evidence: Evidence) -> list[SmokeRow]:
    """What was written and seen, by broker and listener."""
    listeners = {path.number: path.listener for path in paths}
    seen = {(record.partition, record.offset, record.sequence) for record in evidence.reading.records}
    return [_row(path, leaders, listeners, seen, evidence.written) for path in paths]


def _row(
    path: WritePath,
    leaders: Mapping[int, int],
    listeners: Mapping[int, str],
    seen: Set[tuple[int, int, int]],
    written: ProducedRecords,
) -> SmokeRow:
    led = [
        record
        for record in written.acknowledged
        if leaders[record.partition] == path.broker and listeners[record.path] == path.listener
    ]
    times = sorted(written.latencies[record.sequence] * 1000 for record in led if record.sequence in written.latencies)
    return SmokeRow(
        broker=path.broker,
        listener=path.listener,
        address=path.address,
        entered=sum(record.path == path.number for record in written.acknowledged),
        acknowledged=len(led),
        seen=sum((record.partition, record.offset, record.sequence) in seen for record in led),
        p50_ms=_percentile(times, 0.50),
        p99_ms=_percentile(times, 0.99),
    )


def _percentile(times: Sequence[float], share: float) -> float | None:
    """The time that this share of the records did not exceed."""
    return round(times[max(0, ceil(share * len(times)) - 1)], 2) if times else None


def _milliseconds(value: float | None) -> str:
    return "-" if value is None else f"{value:.1f} ms"


def verdict_of(evidence: Evidence) -> Verdict:
    """The judge's answer on what could be read, and on the group's handover."""
    reachable = [record for record in evidence.written.acknowledged if evidence.reading.covers(record)]
    undelivered = [record.sequence for record in evidence.written.undelivered]
    verdict = judge(reachable, evidence.reading.records, undelivered)
    handover = evidence.handover
    if handover.failure:
        return verdict
    return replace(verdict, faults=(*verdict.faults, *judge_resume(handover.commits, handover.ends, handover.resumed)))


def _absent(brokers: Sequence[Broker], alive: Mapping[int, str]) -> Iterator[str]:
    for broker in brokers:
        if broker.id not in alive:
            yield f"broker {broker.id} ({broker.internal.address}) is not in the cluster"


def problems_of(paths: Sequence[WritePath], leaders: Mapping[int, int], evidence: Evidence) -> Iterator[str]:
    """What could not be asked, and why."""
    for path in paths:
        failed = [record for record in evidence.written.undelivered if record.path == path.number]
        unsent = evidence.written.unsent.get(path.number, 0)
        if failed:
            yield f"through {path}: {len(failed)} records without an acknowledgement: {failed[0].reason}"
        elif unsent:
            yield f"through {path}: {unsent} records were not sent before the time was over (see --timeout)"
    if evidence.handover.failure:
        yield f"the group could not change its consumer: {evidence.handover.failure}"
    for partition, (reached, end) in evidence.reading.unread.items():
        yield f"partition {partition} (broker {leaders[partition]}): read only to offset {reached} of {end}"
