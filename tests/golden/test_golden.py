"""Whole rendered trees, byte for byte; `pytest tests/golden --renew` writes them anew."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kcluster import inventory
from kcluster.operations import render

CASES = sorted(path.parent.name for path in Path(__file__).parent.glob("*/inventory.yml"))


@pytest.mark.parametrize("case", CASES)
def test_a_rendered_tree_is_the_stored_one(case: str, renew: bool) -> None:
    folder = Path(__file__).parent / case
    expected, cluster = folder / "expected", inventory.read(folder / "inventory.yml")
    if renew:
        shutil.rmtree(expected, ignore_errors=True)
        render.written(cluster, expected)
    placed = render.rendered(cluster).files
    wanted = {f"{at.host}{at.file.path}": at.file.text.encode() for at in placed}
    stored = {str(path.relative_to(expected)): path.read_bytes() for path in expected.rglob("*") if path.is_file()}
    assert sorted(wanted) == sorted(stored)
    for name, text in wanted.items():
        assert text == stored[name], f"{case}: {name} differs; look at it, then `pytest tests/golden --renew`"


def test_the_cases_are_all_there() -> None:
    assert CASES == [
        "kraft-3.9",
        "kraft-4.2",
        "levels-add-up",
        "racks",
        "several-data-dirs",
        "several-listeners",
        "spark",
        "spark-kraft",
        "zookeeper-3x3",
    ]
