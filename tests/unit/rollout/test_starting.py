"""Nodes that still start: how long they are waited for."""

from __future__ import annotations

import pytest

from kcluster.model.reason import Reason
from kcluster.model.running import ProcessState, Recovery, Running
from kcluster.rollout import starting, waiting
from kcluster.rollout.starting import StartingError, StartWatch
from tests.unit.fake_hosts import BROKERS, TRIO

NODE = BROKERS[2]


def recovering(loaded: int) -> Running:
    text = f"{loaded} of 12 partitions of /var/lib/kafka are loaded"
    state = {NODE.name: ProcessState.STARTING}
    return Running(TRIO).observed(state, {}, {NODE.name: Recovery(text, f"{text} 7 MB")})


def test_a_node_that_starts_may_not_stop_while_it_gets_on(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [100.0]
    monkeypatch.setattr(starting.time, "monotonic", lambda: clock[0])
    watch = StartWatch()

    def told(loaded: int, at: float) -> list[str]:
        clock[0] = at
        return [str(reason) for reason in watch.reasons(recovering(loaded), BROKERS)]

    assert told(4, 100) == ["broker-3 is starting: 4 of 12 partitions of /var/lib/kafka are loaded"]
    assert told(4, 129) != []
    assert told(5, 150) != [], "it got on meanwhile"
    assert told(5, 181) == [], "it hangs, and may be restarted"


def test_what_it_has_done_is_told_to_those_who_wait_for_it() -> None:
    assert str(StartingError(recovering(4), NODE)) == "it is starting: 4 of 12 partitions of /var/lib/kafka are loaded"
    assert str(StartingError(Running(TRIO), NODE)) == "it is starting"
    listening = recovering(4).observed({NODE.name: ProcessState.LISTENING}, {})
    assert listening.recoveries == {}
    assert list(StartWatch().reasons(listening, BROKERS)) == []


def test_patience_begins_anew_with_each_progress(monkeypatch: pytest.MonkeyPatch) -> None:
    clock = [0.0]
    monkeypatch.setattr(waiting.time, "monotonic", lambda: clock[0])
    monkeypatch.setattr(waiting.time, "sleep", lambda seconds: None)
    marks = iter(["1", "2", "3", "3", "2", "3", "3"])

    def ask() -> list[Reason]:
        clock[0] += 6
        return [Reason("starting", progress=next(marks)), Reason("behind")]

    assert len(waiting.wait(ask, lambda line: None, within=10, subject="x")) == 2
    assert clock[0] == 30, "12 s after the last mark that was new"
