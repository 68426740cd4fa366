"""Repairs are runs that change hosts: one at a time, and written down."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kcluster import journal
from kcluster.clients import ansible
from kcluster.clients.ansible import Event, PlaybookOutcome, TaskStatus
from kcluster.errors import LockedError
from kcluster.facts.preflight.check_results import CheckResult
from kcluster.model.cluster import Cluster
from kcluster.operations.check import CheckSeverity
from kcluster.rollout import host_repair
from kcluster.rollout.cluster_lock import locked

WORDS = ["kcluster", "check", "--fix"]
BAD = [CheckResult("max-map-count", CheckSeverity.WARNING, "h2", "vm.max_map_count is 65530", fixable=True)]


@pytest.fixture(autouse=True)
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KCLUSTER_HOME", str(tmp_path))


def repair(cluster: Cluster) -> list[str]:
    """What is shown; the lock is only that of this machine."""
    shown: list[str] = []
    host_repair.repair(cluster, None, Path("inv"), BAD, shown.append, WORDS)  # type: ignore[arg-type]
    return shown


def test_a_repair_is_refused_while_another_run_works_on_the_cluster(
    cluster: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(ansible, "run_playbook", lambda *_, **__: pytest.fail("hosts were changed"))
    with locked(cluster, None, ["kcluster", "provision"]), pytest.raises(LockedError) as caught:
        repair(cluster)
    assert "kcluster provision" in caught.value.message
    assert journal.clusters() == []


def test_a_repair_is_written_down_host_by_host(cluster: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    def play(playbook: str, inventory: Path, *, on_event: Any, limit: list[str], **_: Any) -> PlaybookOutcome:
        assert (playbook, limit) == ("kcluster.kafka.prepare", ["h2"])
        for status in (TaskStatus.STARTED, TaskStatus.CHANGED, TaskStatus.SKIPPED):
            on_event(Event(host="h2", task="Prepare the host", status=status))
        return PlaybookOutcome((), 0.0)

    monkeypatch.setattr(ansible, "run_playbook", play)
    assert repair(cluster) == ["h2: Prepare the host"]
    (run,) = journal.runs(cluster.name)
    assert (run.outcome, run.owner.words) == ("done", tuple(WORDS))
    assert [(note["host"], note["what"], note["status"]) for note in run.notes] == [
        ("h2", "Prepare the host", "changed")
    ]
