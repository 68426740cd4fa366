"""The plan of a staged change of 300 hosts from recorded facts: its limit, and that it grows no more than linearly."""

from __future__ import annotations

import time
from dataclasses import replace

from kcluster import plan as planning
from kcluster.facts.running import of_hosts
from kcluster.model.cluster import Cluster
from kcluster.model.host import Host
from kcluster.operations.plan import later_plans
from kcluster.plan import Roles
from kcluster.stages import stages
from tests.unit.plan.observed_hosts import OLD, running
from tests.unit.stages.changes import LOGIN, listening, with_config


def run() -> list[tuple[str, float, float, float]]:
    """Two rows, of the change with the most stages: brokers get SASL among themselves."""
    small, large = (spent(number) for number in (30, 300))
    return [
        ("plan of 5 stages, 300 hosts / 3 s", large, 3.0, 1.0),
        ("plan of 5 stages, 300 hosts / 10 x 30 hosts", large, 10 * small, 1.2),
    ]


def spent(brokers: int) -> float:
    plain = listening(of_size(brokers), "internal", ("internal", 9092, "PLAINTEXT"))
    wanted = with_config(listening(plain, "internal", ("internal", 9092, "SASL_PLAINTEXT")), LOGIN)
    observed = running(plain)
    begin = time.perf_counter()
    first, *rest = stages(of_hosts(wanted, [observed]), wanted)
    plans = [planning.plan(first.cluster, observed, Roles()), *later_plans(first, rest, [observed])]
    took = time.perf_counter() - begin
    assert [len(each.restarts) for each in plans] == 5 * [brokers]
    return took


def of_size(brokers: int) -> Cluster:
    hosts = [Host(f"k{number}", f"10.0.{number // 250}.{number % 250}") for number in range(1, brokers + 1)]
    (first, *_) = OLD.brokers
    return replace(OLD, brokers=tuple(replace(first, host=host, id=number) for number, host in enumerate(hosts, 1)))
