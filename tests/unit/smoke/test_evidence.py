from __future__ import annotations

import json
from collections.abc import Sequence

import pytest

from kcluster.errors import ExitCode
from kcluster.model.broker import Broker
from kcluster.model.host import Host
from kcluster.model.listener import Listener
from kcluster.results import Cell, Grid
from kcluster.show import OutputFormat, result
from kcluster.smoke.evidence import Evidence, left_out, paths_into, problems_of, rows_of, verdict_of
from kcluster.smoke.group_failover import GroupFailover
from kcluster.smoke.replica_reads import ReplicaVerdict
from kcluster.smoke.result import SmokeResult
from kcluster.smoke.traffic import ProducedRecords, ReadRecords, Undelivered, WritePath
from kcluster.smoke.verdict import SmokeRecord, Verdict, judge

LEADERS = {0: 1, 1: 2}
PATHS = [WritePath(0, 1, "INTERNAL", "h1:9092"), WritePath(1, 2, "INTERNAL", "h2:9092")]
ACKED = [
    SmokeRecord(sequence, path, partition, offset, 7)
    for sequence, (path, partition, offset) in enumerate([(0, 0, 0), (0, 1, 0), (1, 0, 1), (1, 1, 1)])
]
WHOLE = GroupFailover(commits={0: 1, 1: 1}, ends={0: 2, 1: 2}, resumed=[(0, 1), (1, 1)])


def evidence(
    *,
    seen: list[SmokeRecord] = ACKED,
    undelivered: list[Undelivered] | None = None,
    unsent: dict[int, int] | None = None,
    failover: GroupFailover = WHOLE,
    unread: dict[int, tuple[int, int]] | None = None,
    replicas: Sequence[ReplicaVerdict] = (),
) -> Evidence:
    latencies = {record.sequence: 0.001 * (record.sequence + 1) for record in ACKED}
    produced = ProducedRecords(list(ACKED), undelivered or [], unsent or {}, latencies)
    return Evidence(produced, failover, ReadRecords(seen, unread or {}), replicas)


def smoke(evidence: Evidence, topic: str = "kcluster-smoke-x", left_out: Sequence[str] = ()) -> SmokeResult:
    return SmokeResult(
        topic=topic,
        kept=False,
        rows=rows_of(PATHS, LEADERS, evidence),
        verdict=verdict_of(evidence),
        leaders=LEADERS,
        resumed=len(evidence.failover.resumed),
        problems=list(problems_of(PATHS, LEADERS, evidence)),
        left_out=left_out,
        seconds=1.25,
        replicas=evidence.replicas,
    )


def broker(number: int) -> Broker:
    def listener(name: str, port: int, protocol: str) -> Listener:
        return Listener(name=name, port=port, protocol=protocol, advertised_host=f"h{number}", advertised_port=port)

    listeners = (
        listener("internal", 9092, "PLAINTEXT"),
        listener("clients", 9094, "PLAINTEXT"),
        listener("outside", 9095, "SASL_SSL"),
    )
    return Broker(host=Host(f"b{number}", f"h{number}"), id=number, listeners=listeners)


BROKERS = [broker(1), broker(2)]
ALIVE = {1: "h1:9092", 2: "h2:9092"}


def test_every_plain_listener_of_every_broker_is_a_path() -> None:
    assert [(path.broker, path.listener, path.address) for path in paths_into(BROKERS, ALIVE, "PLAINTEXT")] == [
        (1, "INTERNAL", "h1:9092"),
        (1, "CLIENTS", "h1:9094"),
        (2, "INTERNAL", "h2:9092"),
        (2, "CLIENTS", "h2:9094"),
    ]


def test_a_secured_client_uses_the_listeners_of_its_protocol() -> None:
    assert [path.listener for path in paths_into(BROKERS, ALIVE, "SASL_SSL")] == ["OUTSIDE", "OUTSIDE"]


def test_a_dead_broker_is_no_path() -> None:
    assert {path.broker for path in paths_into(BROKERS, {2: "h2:9092"}, "PLAINTEXT")} == {2}


def test_without_an_inventory_the_paths_come_from_the_metadata() -> None:
    assert [str(path) for path in paths_into((), ALIVE, "PLAINTEXT")] == ["broker 1 (h1:9092)", "broker 2 (h2:9092)"]


def test_listeners_that_were_not_tried_are_reported_once_with_the_reason() -> None:
    (reason,) = left_out(BROKERS, ALIVE, "PLAINTEXT")
    assert reason == "listener OUTSIDE: its protocol is SASL_SSL, the client's PLAINTEXT (see --client-config)"
    assert "-i INV" in left_out((), ALIVE, "PLAINTEXT")[0]
    assert left_out(BROKERS, {**ALIVE, 7: "h7:9092"}, "SASL_SSL")[0] == (
        "listeners of broker 7: it is not in the inventory"
    )


def test_a_row_counts_what_entered_and_what_the_broker_led() -> None:
    first, second = rows_of(PATHS, LEADERS, evidence())
    assert (first.entered, first.acknowledged, first.seen) == (2, 2, 2)
    assert (first.p50_ms, first.p99_ms) == (1.0, 3.0)
    assert (second.p50_ms, second.p99_ms) == (2.0, 4.0)


def test_a_complete_smoke_test_passes() -> None:
    smoked = smoke(evidence())
    assert smoked.passed
    assert smoked.exit_code is ExitCode.DONE
    *_, last = smoked.view()
    assert isinstance(last, Cell)
    assert last.text == (
        "smoke test passed: 4 acknowledged, 4 read, 0 lost, 0 duplicates, 2 read after the group failover (1.2 s)"
    )


def test_what_was_not_tested_is_named_with_its_reason_in_the_verdict_the_table_and_the_json(
    capsys: pytest.CaptureFixture[str],
) -> None:
    reasons = left_out(BROKERS, ALIVE, "PLAINTEXT")
    smoked = smoke(evidence(), left_out=reasons)
    assert smoked.passed
    assert smoked.sentence.endswith(
        "(1.2 s); not tested: listener OUTSIDE: its protocol is SASL_SSL, the client's PLAINTEXT (see --client-config)"
    )
    result(smoked, OutputFormat.TABLE)
    assert capsys.readouterr().out.count(reasons[0]) == 1
    assert smoked.data()["left_out"] == reasons


def test_a_replica_with_a_fault_fails_the_test_and_is_named() -> None:
    rows = [
        ReplicaVerdict(0, 1, 2, 2, ""),
        ReplicaVerdict(0, 2, 1, 2, "read only to offset 1 of 2: it has no more records"),
    ]
    smoked = smoke(evidence(replicas=rows))
    assert smoked.exit_code is ExitCode.NO
    assert smoked.problems == [
        "replica of partition 0 on broker 2 read only to offset 1 of 2: it has no more records "
        "(see kcluster health, and the broker's log)"
    ]
    assert "1 of 2 replicas complete (1.2 s)" in smoked.sentence
    assert smoked.data()["replicas"][1] == {"partition": 0, "broker": 2, "read_to": 1, "end": 2, "fault": rows[1].fault}


def test_a_lost_record_is_named_with_broker_partition_offset_and_sequence() -> None:
    smoked = smoke(evidence(seen=ACKED[:3]))
    assert smoked.exit_code is ExitCode.NO
    faults = [block for block in smoked.view() if isinstance(block, Grid)][1]
    assert [getattr(cell, "text", cell) for cell in faults.rows[0]][:5] == ["lost", "2", "1", "1", "3"]
    assert smoked.data()["verdict"]["faults"][0]["broker"] == 2


def test_only_the_first_faults_are_printed(capsys: pytest.CaptureFixture[str]) -> None:
    verdict: Verdict = judge([SmokeRecord(number, 0, 0, number, 7) for number in range(20)], [])
    smoked = SmokeResult("t", False, [], verdict, LEADERS, 0, [], [], 1.0)
    result(smoked, OutputFormat.TABLE)
    printed = capsys.readouterr().out
    assert printed.count("\nlost ") == 5
    assert "... and 15 more" in printed


def test_a_record_without_an_answer_is_a_problem_but_not_lost() -> None:
    smoked = smoke(evidence(undelivered=[Undelivered(9, 1, 1, "Connection refused")]))
    assert smoked.verdict.passed
    assert smoked.verdict.indeterminate == 1
    assert not smoked.passed
    assert smoked.problems == [
        "through broker 2 (INTERNAL h2:9092): 1 record without an acknowledgement: Connection refused"
    ]


def test_records_that_were_never_sent_are_a_problem() -> None:
    (problem,) = smoke(evidence(unsent={0: 12})).problems
    assert problem.startswith("through broker 1 (INTERNAL h1:9092): 12 records not sent")


def test_what_could_not_be_read_is_not_called_lost() -> None:
    smoked = smoke(evidence(seen=ACKED[:3], unread={1: (1, 2)}))
    assert smoked.verdict.faults == ()
    assert smoked.problems == ["partition 1 (broker 2): read only to offset 1 of 2"]
    assert smoked.exit_code is ExitCode.NO


def test_a_group_that_resumes_elsewhere_is_a_fault() -> None:
    smoked = smoke(evidence(failover=GroupFailover(WHOLE.commits, WHOLE.ends, [(0, 0), (0, 1), (1, 1)])))
    assert [fault.flaw for fault in smoked.verdict.faults] == ["not resumed from the commit"]


def test_a_group_that_could_not_fail_over_is_a_problem() -> None:
    smoked = smoke(evidence(failover=GroupFailover({}, {0: 2, 1: 2}, failure="its commit failed: x")))
    assert smoked.verdict.faults == ()
    assert smoked.problems == ["group failover failed: its commit failed: x"]


def test_the_json_form_has_the_verdict_and_the_rows(capsys: pytest.CaptureFixture[str]) -> None:
    result(smoke(evidence()), OutputFormat.JSON)
    printed = json.loads(capsys.readouterr().out)
    assert printed["holds"] is True
    assert [row["broker"] for row in printed["rows"]] == [1, 2]
    assert printed["verdict"]["acknowledged"] == 4
