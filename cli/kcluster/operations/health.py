"""`health`: the checks of a cluster, once, until it is healthy, or repeatedly."""

from __future__ import annotations

import time
from collections.abc import Iterable, Iterator
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING, Any

from kcluster.errors import ExitCode, KclusterError
from kcluster.facts.reach import Reach
from kcluster.health.checks import all_checks
from kcluster.health.cluster_facts import ClusterFacts, gather
from kcluster.health.host_checks import address_check, host_checks, reach_check, spark_check
from kcluster.results import Block, Checks, Progress

if TYPE_CHECKING:
    from kcluster.clients.kafka import Kafka
    from kcluster.clients.ssh import Connections
    from kcluster.model.cluster import Cluster

PAUSE = 0.5
"""Seconds between two examinations while waiting; watching is four times as calm."""


@dataclass(frozen=True)
class Health(Checks):
    """The verdict, what could not be asked, and whether anybody answered."""

    left_out: tuple[str, ...] = ()
    silent: bool = False

    @property
    def exit_code(self) -> ExitCode:
        """UNREACHABLE when nothing answers at all, NO when something is wrong."""
        return ExitCode.UNREACHABLE if self.silent else super().exit_code

    @property
    def signature(self) -> tuple[tuple[str, bool, str], ...]:
        """What makes two verdicts the same: every answer, and the details of those that are no."""
        return tuple((check.name, check.ok, "" if check.ok else check.detail) for check in self.checks)

    def data(self) -> Any:
        """The checks and what was left out."""
        return {**super().data(), "silent": self.silent, "left_out": list(self.left_out)}

    def view(self) -> Iterable[Block]:
        """The checks, what was left out, and the verdict last."""
        *answers, verdict = super().view()
        yield from answers
        yield from (f"not checked: {what}" for what in self.left_out)
        yield verdict


def examine(
    kafka: Kafka, cluster: Cluster | None, hosts: Connections | None = None, reach: Reach | None = None
) -> Health:
    """Ask every question once: the cluster over the wire and, where there are any, the hosts over SSH meanwhile."""
    checks, silent = [], True
    if cluster and hosts:
        from kcluster.facts.running import asked  # lazily: only hosts need it

        reach = reach or Reach(hosts)
        seen, running, facts = asked(cluster, hosts, reach, lambda where: gather(kafka, where, reach))
        facts = replace(facts, cluster=cluster, running=running)
        checks = [*host_checks(cluster, seen), address_check(cluster, running), reach_check(cluster, reach.closed)]
        silent = all(isinstance(answer, KclusterError) for there in seen for answer in there.values())
    else:
        facts = gather(kafka, cluster)
    checks += all_checks(facts)
    if cluster and cluster.engine:
        checks.append(spark_check(cluster.engine))
    title = f"cluster {cluster.name}" if cluster else f"the cluster at {kafka.bootstrap}"
    return Health(title, checks, left_out=tuple(_left_out(facts)), silent=silent and facts.silent)


def until_healthy(
    kafka: Kafka, cluster: Cluster | None, hosts: Connections | None = None, *, within: float, progress: Progress
) -> Health:
    """Ask again until the verdict is a yes or the time is over; every change is told."""
    deadline = time.monotonic() + within
    told: tuple[tuple[str, bool, str], ...] = ()
    reach = Reach(hosts)
    while True:
        health = examine(kafka, cluster, hosts, reach)
        if within and not health.ok and health.signature != told:
            told = health.signature
            progress("waiting: " + "; ".join(f"{name}: {detail}" for name, ok, detail in told if not ok))
        if health.ok or time.monotonic() >= deadline:
            return health
        time.sleep(min(PAUSE, max(0.0, deadline - time.monotonic())))


def changes(kafka: Kafka, cluster: Cluster | None, hosts: Connections | None = None) -> Iterator[Health]:
    """The verdict now, and again whenever it is another one, for ever."""
    told: tuple[tuple[str, bool, str], ...] | None = None
    reach = Reach(hosts)
    while True:
        health = examine(kafka, cluster, hosts, reach)
        if health.signature != told:
            told = health.signature
            yield replace(health, title=f"{time.strftime('%H:%M:%S')} {health.title}")
        time.sleep(PAUSE * 4)


def _left_out(facts: ClusterFacts) -> Iterator[str]:
    if facts.cluster is None:
        yield "ZooKeeper or the KRaft quorum, nodes that are down, other listeners (name the inventory with -i INV)"
        return
    asked = {endpoint.node for endpoint in facts.identities}
    closed = [broker.name for broker in facts.cluster.brokers if broker.name not in asked]
    if closed:
        yield f"cluster id and controller as {', '.join(closed[:5])} see them: their listeners need credentials"
