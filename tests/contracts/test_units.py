"""How often systemd tries: for ever what waits for others, not for long what cannot work. Templates tell the sums."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

import pytest

from kcluster import inventory, render
from kcluster.config import property_tables
from kcluster.model.cluster import Part
from kcluster.model.node import Node
from kcluster.render import Role

FAST = 8
"""Seconds in which a process that refuses a setting or finds its port taken has ended, on a slow host too."""

REGISTRATION = "initial.broker.registration.timeout.ms"


def of(project: Path, case: str) -> list[tuple[Part, Node]]:
    cluster = inventory.read(project / "tests" / "golden" / case / "inventory.yml")
    engine = cluster.engine
    spark = [(engine, node) for node in (engine.masters[0], engine.workers[0])] if engine else []
    return [(cluster, cluster.metadata.nodes[0]), (cluster, cluster.brokers[0]), *spark]


def text(part: Part, node: Node, role: Role) -> str:
    return next(file.text for file in render.files(part, node) if file.role is role)


def limits(part: Part, node: Node) -> tuple[int, int, int]:
    """The interval, how many starts are allowed within it, and the pause before each."""
    unit: Mapping[str, str] = dict(re.findall(r"^(\w+)=(\d+)$", text(part, node, Role.UNIT), re.M))
    return int(unit["StartLimitIntervalSec"]), int(unit["StartLimitBurst"]), int(unit["RestartSec"])


@pytest.mark.parametrize("case", ["zookeeper-3x3", "kraft-3.9", "kraft-4.2", "spark"])
def test_what_cannot_work_is_given_up_soon(project: Path, case: str) -> None:
    for part, node in of(project, case):
        interval, burst, pause = limits(part, node)
        assert burst * (FAST + pause) < interval, node.name


def test_a_broker_without_zookeeper_is_tried_for_ever(project: Path) -> None:
    part, broker = of(project, "zookeeper-3x3")[1]
    waits = re.search(r"^zookeeper\.connection\.timeout\.ms=(\d+)000$", text(part, broker, Role.CONFIG), re.M)
    assert waits
    interval, burst, pause = limits(part, broker)
    assert burst * (int(waits[1]) + pause) > interval


@pytest.mark.parametrize("case", ["kraft-3.9", "kraft-4.2"])
def test_a_broker_without_a_controller_is_tried_for_ever(project: Path, case: str) -> None:
    part, broker = of(project, case)[1]
    assert REGISTRATION not in text(part, broker, Role.CONFIG)
    waits = property_tables.table(part.release.version)[REGISTRATION].default
    interval, burst, pause = limits(part, broker)
    assert burst * (int(waits or 0) // 1000 + pause) > interval


def test_a_spark_master_without_zookeeper_is_tried_for_ever(project: Path) -> None:
    part, master = of(project, "spark")[2]
    waits = re.search(r"SECONDS < (\d+)", text(part, master, Role.UNIT))
    assert waits
    interval, burst, pause = limits(part, master)
    assert burst * (int(waits[1]) + pause) > interval
