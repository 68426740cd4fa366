"""`check`: facts of every host, judged by the preflight checks."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from kcluster.clients.ssh import UnknownKeyError, ways_out
from kcluster.errors import KclusterError, UsageError
from kcluster.facts.preflight import collect, disks, network, system
from kcluster.facts.preflight.catalogue import EXPLANATIONS
from kcluster.facts.preflight.check_results import CheckResult, CheckSeverity, PreflightResult, described, ranked
from kcluster.results import counted

if TYPE_CHECKING:
    from kcluster.clients.ssh import Connections
    from kcluster.facts.preflight.collect import PreflightFacts
    from kcluster.model.cluster import Cluster
    from kcluster.results import Progress

__all__ = ["CheckResult", "CheckSeverity", "PreflightResult", "check", "described", "judge"]


def check(cluster: Cluster, connections: Connections, progress: Progress, *, strict: bool = False) -> PreflightResult:
    """Collect facts from every host and judge them; nothing is changed. Raises UsageError for a local cluster."""
    if cluster.local:
        raise UsageError(
            f"{cluster.name} runs on this machine and needs no preflight checks", resolution="kcluster up -i INV"
        )
    hosts = len(cluster.every_host)
    progress(f"checking {counted(hosts, 'host')}")
    return judge(cluster, collect.collect(cluster, connections), strict=strict)


def judge(cluster: Cluster, told: PreflightFacts, *, strict: bool = False) -> PreflightResult:
    """The verdict on what the hosts told."""
    return PreflightResult(cluster.name, ranked(_answers(cluster, told), EXPLANATIONS), strict=strict)


def _answers(cluster: Cluster, told: PreflightFacts) -> Iterator[CheckResult]:
    yield from _logins(cluster, told)
    for name, found in told.no_python.items():
        yield system.python(name, found)
    for name, host in told.hosts.items():
        yield from system.answers(cluster, name, host)
    yield from disks.answers(cluster, told.hosts)
    yield from network.answers(cluster, told.hosts, told.networks, told.skews)


def _logins(cluster: Cluster, told: PreflightFacts) -> Iterator[CheckResult]:
    """Whether SSH and sudo work on each host."""
    ways = ways_out(told.unreachable)
    for host in cluster.every_host:
        name = host.name
        if problem := told.unreachable.get(name):
            yield CheckResult(
                "ssh", CheckSeverity.ERROR, name, _reason(problem, name), "an answer over SSH", ways[name]
            )
            continue
        yield CheckResult("ssh", CheckSeverity.OK, name, "answers")
        if problem := told.no_sudo.get(name):
            yield CheckResult(
                "sudo", CheckSeverity.ERROR, name, _reason(problem, name), "root's rights", problem.resolution
            )
        elif name in told.hosts and not told.hosts[name].root:
            fix = "remove ansible_become: false, or log in as root"
            yield CheckResult("sudo", CheckSeverity.ERROR, name, "the account is not root and has no sudo", "root", fix)
        elif name in told.hosts:
            yield CheckResult("sudo", CheckSeverity.OK, name, "root")


def _reason(problem: KclusterError, name: str) -> str:
    """The error without the host's name, which has a column of its own; of an unknown key its fingerprint too."""
    shown = problem.details.partition(";")[0] if isinstance(problem, UnknownKeyError) else ""
    return ", ".join(part for part in (problem.message.removeprefix(f"{name}: "), shown) if part)
