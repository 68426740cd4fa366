"""Whose a unit is, out of its description."""

from __future__ import annotations

from pathlib import Path

import pytest

from kcluster import inventory, render
from kcluster.config.unit_titles import other_owner
from kcluster.render import Role


@pytest.mark.parametrize("name", ["zookeeper-3x3", "kraft-4.2", "spark", "spark-kraft"])
def test_every_unit_that_is_rendered_says_whose_it_is(project: Path, name: str) -> None:
    cluster = inventory.read(project / "tests/golden" / name / "inventory.yml")
    for node in cluster.every_node:
        (unit,) = (file.text for file in render.files(cluster.part_of(node), node) if file.role is Role.UNIT)
        assert other_owner(unit, cluster.name) == ""
        assert other_owner(unit, f"{cluster.name}-2") == cluster.name
        assert other_owner(unit, cluster.name[:-1]) == cluster.name


@pytest.mark.parametrize("line", ["Description=Apache Kafka", "Description=Kafka broker of ours", "#Description=", ""])
def test_a_unit_of_somebody_else_says_nothing(line: str) -> None:
    assert other_owner(f"[Unit]\n{line}\n[Service]\n", "demo") == ""
