from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kcluster.clients.processes import Process
from kcluster.errors import ExitCode
from kcluster.local import shape
from kcluster.local.record import Origin, Record, Started
from kcluster.local.wish import root
from kcluster.operations import status
from kcluster.operations.status import _duration


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KCLUSTER_HOME", str(tmp_path))
    return tmp_path


def remember(name: str, **changes) -> None:
    record = Record(root(name), shape.cluster_of(name, Origin(brokers=1, keepers=1), ""))
    replace(record, **changes).save()


def test_it_works_when_everything_is_stopped():
    remember("s")
    found = status.status("s")
    assert [node.state for node in found.nodes] == ["stopped", "stopped"]
    assert found.exit_code is ExitCode.NO


def test_a_node_that_ended_by_itself_has_crashed():
    remember("s", started={"broker-1": Started(Process(1, 1), "")})
    assert {node.node: node.state for node in status.status("s").nodes}["broker-1"] == "crashed"


def test_several_clusters_are_listed_in_one_line_each():
    remember("a")
    remember("b")
    assert [(line.name, line.running, line.nodes) for line in status.clusters().clusters] == [("a", 0, 2), ("b", 0, 2)]


@pytest.mark.parametrize(
    ("seconds", "words"), [(None, ""), (0, "0 s"), (59, "59 s"), (61, "1 min 1 s"), (7200, "2 h"), (90061, "1 d 1 h")]
)
def test_a_duration_has_the_two_units_that_matter(seconds, words):
    assert _duration(seconds) == words
