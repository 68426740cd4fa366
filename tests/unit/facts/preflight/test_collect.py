"""What becomes of the hosts' answers; the hosts themselves are played by this machine's Python."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import replace
from typing import Any

import pytest

from kcluster.clients import host_scripts
from kcluster.clients.ssh import CommandResult
from kcluster.errors import KclusterError, UnreachableError, UsageError
from kcluster.facts.preflight import collect
from kcluster.facts.preflight.port_matrix import HERE
from kcluster.model.cluster import Cluster
from kcluster.operations.check import check

Play = Callable[[str, str], CommandResult | KclusterError]


@pytest.fixture(autouse=True)
def open_doors(monkeypatch: pytest.MonkeyPatch) -> None:
    """This machine itself reaches every host, without trying."""
    monkeypatch.setattr(host_scripts.load("preflight_network").ProbeResult, "connect", lambda self: "")


def real(script: str) -> CommandResult:
    done = subprocess.run([sys.executable, "-IS", "-"], input=script, capture_output=True, text=True, check=False)
    return CommandResult(done.returncode, done.stdout, done.stderr)


def at_rest(answer: CommandResult, fsync_ms: float = 1.0) -> CommandResult:
    """The same, whatever listens on this machine and however busy its disk is."""
    told = json.loads(answer.stdout)
    journals = {path: {**found, "times": [fsync_ms]} for path, found in told["journals"].items()}
    return replace(answer, stdout=json.dumps({**told, "ports": {}, "journals": journals}))


class Hosts:
    """Stands in for kept connections: each host is a function of its name and the script."""

    def __init__(self, play: Play) -> None:
        self.play = play
        self.rounds: list[tuple[str, ...]] = []

    def run(
        self, command: str, *, stdin: Mapping[str, str], only: Iterable[str], become: bool, within: float
    ) -> dict[str, CommandResult | KclusterError]:
        assert command == collect.COMMAND
        assert become
        self.rounds.append(tuple(only))
        return {name: self.play(name, stdin[name]) for name in only}


def network(knocks: list[list[Any]], starting: list[int] | None = None) -> CommandResult:
    said = {"begun": 0.0, "ended": 0.0, "own_names": {}, "unopened": {}, "starting": starting or [], "knocks": knocks}
    return CommandResult(0, json.dumps(said) + "\n", "")


def ask(cluster: Cluster, play: Play) -> tuple[collect.PreflightFacts, Hosts]:
    hosts = Hosts(play)
    return collect.collect(cluster, hosts), hosts  # type: ignore[arg-type]  # only `run` of it is used


def test_each_way_to_fail_is_told_apart_and_the_second_round_asks_only_the_others(cluster: Cluster) -> None:
    def play(name: str, script: str) -> CommandResult | KclusterError:
        if name == "h1":
            return CommandResult(127, "", "")
        if name == "h2":
            return UnreachableError("h2: sudo wants a password for ann")
        return at_rest(real(script)) if "def examine" in script else network([])

    told, hosts = ask(cluster, play)
    assert told.no_python == {"h1": "there is no python3"}
    assert set(told.no_sudo) == {"h2"}
    assert set(told.hosts) == set(told.skews) == {"h3"}
    assert set(told.networks) == {"h3", HERE}
    assert set(told.networks[HERE].knocks) == {("10.0.0.3", 2181), ("10.0.0.3", 9092)}
    assert hosts.rounds == [("h1", "h2", "h3"), ("h3",)]


@pytest.mark.parametrize(
    ("answer", "found"),
    [
        (
            CommandResult(1, "", "Python 3.6.8 is too old: 3.8 or newer is needed\n"),
            "python3 ended with 1: Python 3.6.8 is too old: 3.8 or newer is needed",
        ),
        (
            CommandResult(1, "", "Traceback\nModuleNotFoundError: No module named 'json'\n"),
            "python3 ended with 1: ModuleNotFoundError: No module named 'json'",
        ),
        (CommandResult(1, "", ""), "python3 ended with 1: no message"),
    ],
)
def test_a_python_that_is_not_enough_is_quoted(cluster: Cluster, answer: CommandResult, found: str) -> None:
    told, hosts = ask(cluster, lambda name, script: answer)
    assert told.no_python == dict.fromkeys(("h1", "h2", "h3"), found)
    assert len(hosts.rounds) == 1


def test_a_door_that_should_have_opened_is_tried_again_with_more_patience(cluster: Cluster) -> None:
    patience: list[float] = []

    def play(name: str, script: str) -> CommandResult:
        if "def examine" in script:
            return at_rest(real(script))
        asked = json.loads(script.split("json.loads('")[1].split("')")[0])
        patience.append(asked["patience"])
        late = name == "h2" and asked["patience"] == collect.PATIENCE
        return network([["10.0.0.1", 9092, "refused" if late else ""]])

    told, hosts = ask(cluster, play)
    assert len(hosts.rounds) == 3
    assert patience == [collect.PATIENCE] * 3 + [collect.MORE_PATIENCE] * 3
    assert told.networks["h2"].knocks == {("10.0.0.1", 9092): ""}


def test_a_door_that_was_left_to_its_unit_is_not_waited_for(cluster: Cluster) -> None:
    def play(name: str, script: str) -> CommandResult:
        if "def examine" in script:
            return at_rest(real(script))
        return network([["10.0.0.1", 9092, "refused"]], [9092] if name == "h1" else [])

    _, hosts = ask(cluster, play)
    assert len(hosts.rounds) == 2


def test_a_disk_that_looks_too_slow_is_measured_again(cluster: Cluster) -> None:
    slow_for = {"h1": 1, "h2": 2}

    def play(name: str, script: str) -> CommandResult:
        if "def examine" not in script:
            return network([])
        slow_for[name] = slow_for.get(name, 0) - 1
        return at_rest(real(script), 200.0 if slow_for[name] >= 0 else 1.0)

    told, hosts = ask(cluster, play)
    assert hosts.rounds[:2] == [("h1", "h2", "h3"), ("h1", "h2")]
    found = {name: next(iter(host.journals.values())).times for name, host in told.hosts.items()}
    assert found == {"h1": (1.0,), "h2": (200.0,), "h3": (1.0,)}


def test_a_cluster_on_this_machine_needs_no_preflight(cluster: Cluster) -> None:
    here = tuple(replace(broker, host=replace(broker.host, local=True)) for broker in cluster.brokers)
    keepers = tuple(replace(node, host=replace(node.host, local=True)) for node in cluster.metadata.nodes)
    local = replace(cluster, brokers=here, metadata=replace(cluster.metadata, servers=keepers))
    with pytest.raises(UsageError) as found:
        check(local, Hosts(lambda name, script: network([])), lambda _: None)  # type: ignore[arg-type]
    assert found.value.resolution == "kcluster up -i INV"
