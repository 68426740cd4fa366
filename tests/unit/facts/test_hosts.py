"""What is asked of each host, and what its answer means."""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

import pytest

from kcluster.clients import host_scripts
from kcluster.clients.ssh import CommandResult, Connections
from kcluster.errors import KclusterError, RefusedError, UnreachableError
from kcluster.facts import hosts as looking
from kcluster.model.cluster import Cluster
from kcluster.model.host import Host
from kcluster.model.observed import ObservedHost
from tests.unit.plan.observed_hosts import BROKERS, OLD


@dataclass
class Hosts:
    """Stands in for the connections: what travels over them is what these tests are about."""

    answers: Mapping[str, CommandResult | KclusterError]
    asked: Mapping[str, Any] | None = None

    def run(self, command: str, **given: Any) -> dict[str, CommandResult | KclusterError]:
        self.asked = {"command": command, **given}
        return {name: self.answers[name] for name in given["only"]}


def look(answer: CommandResult | KclusterError) -> ObservedHost | KclusterError:
    hosts = Hosts({"h1": answer})
    return looking.observe_hosts(OLD, cast(Connections, hosts), only=["h1"])["h1"]


def test_every_host_is_asked_about_its_own_nodes() -> None:
    asked = looking.host_query(OLD, OLD.hosts[1])
    assert [node["name"] for node in asked["nodes"]] == ["zookeeper-2", "broker-2"]
    assert [node["unit"] for node in asked["nodes"]] == ["zookeeper", "kafka"]
    assert asked["nodes"][0]["directories"] == ["/var/lib/zookeeper"]
    assert "/etc/kafka/server.properties" in asked["nodes"][1]["files"]
    assert asked["preparation"].items() >= {"install_dir": "/opt/kafka", "log_dir": "/var/log/kafka"}.items()


def test_the_java_of_the_environment_is_the_one_looked_for() -> None:
    brokers = (replace(BROKERS[0], environment={"JAVA_HOME": "/opt/java"}),)
    cluster = replace(OLD, metadata=replace(OLD.metadata, servers=()), brokers=brokers)
    assert looking.host_query(cluster, BROKERS[0].host)["java_home"] == "/opt/java"


def program(cluster: Cluster, host: Host) -> str:
    """What a host runs."""
    return host_scripts.program("observe_host", looking.host_query(cluster, host))


def test_whatever_stands_in_a_path_stays_data() -> None:
    evil = replace(BROKERS[0], data_dirs=('/x\'); import os; os._exit(9) #\n"""\\',))
    script = program(replace(OLD, brokers=(evil,)), evil.host)
    done = subprocess.run([sys.executable, "-IS", "-"], input=script, capture_output=True, text=True, check=True)
    assert isinstance(look(CommandResult(0, done.stdout, "")), ObservedHost)


def test_a_login_that_greets_does_not_hide_the_answer() -> None:
    script = program(OLD, OLD.hosts[0])
    done = subprocess.run([sys.executable, "-IS", "-"], input=script, capture_output=True, text=True, check=True)
    seen = look(CommandResult(0, f"Welcome!\n\n{done.stdout}", ""))
    assert isinstance(seen, ObservedHost)
    assert seen.name == "h1"
    assert set(seen.nodes) == {"zookeeper-1", "broker-1"}


def test_all_are_asked_at_once_as_root_in_an_isolated_python() -> None:
    hosts = Hosts({host.name: UnreachableError("no") for host in OLD.hosts})
    assert set(looking.observe_hosts(OLD, cast(Connections, hosts))) == {"h1", "h2", "h3"}
    assert hosts.asked
    assert (hosts.asked["command"], hosts.asked["become"]) == ("python3 -IS -", True)
    assert set(hosts.asked["stdin"]) == {"h1", "h2", "h3"}


def test_a_host_without_python_says_how_to_get_it() -> None:
    problem = look(CommandResult(127, "", "sh: 1: python3: not found"))
    assert isinstance(problem, RefusedError)
    assert problem.message == "h1 has no python3"
    assert "python3" in problem.resolution


@pytest.mark.parametrize("answer", [CommandResult(1, "", "SyntaxError: invalid syntax"), CommandResult(0, "", "")])
def test_a_host_whose_python_fails_is_an_error_with_its_output(answer: CommandResult) -> None:
    problem = look(answer)
    assert isinstance(problem, RefusedError)
    assert "h1 cannot be inspected" in problem.message
    assert problem.details == answer.stderr


def test_an_unreachable_host_stays_an_error() -> None:
    assert isinstance(look(UnreachableError("h1 does not answer")), UnreachableError)
