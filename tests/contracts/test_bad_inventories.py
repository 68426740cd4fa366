"""Each inventory of tests/inventories is wrong as its folder says, and is answered with its expected.txt."""

from __future__ import annotations

import os
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from pathlib import Path

import pytest

from kcluster import app
from kcluster.errors import InventoryError
from kcluster.inventory import cache

BAD = sorted(path for path in (Path(__file__).parent.parent / "inventories").iterdir() if path.is_dir())


@pytest.fixture(scope="module", autouse=True)
def read_side_by_side() -> None:
    """Ansible takes half a second for each: asked on all cores at once, the tests find the answers in the cache."""

    def ask(inventory: Path) -> None:
        with suppress(InventoryError):
            cache.export(inventory / _hosts(inventory))

    with ThreadPoolExecutor(os.cpu_count()) as pool:
        list(pool.map(ask, BAD))


@pytest.mark.parametrize("inventory", BAD, ids=lambda path: path.name)
def test_a_bad_inventory_gets_its_exact_answer(
    inventory: Path, renew: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(inventory)
    monkeypatch.setattr("kcluster.model.quorum.new_cluster_id", lambda: "AAAAAAAAAAAAAAAAAAAAAA")
    code = app.main(["validate", "-i", _hosts(inventory)])
    said = capsys.readouterr()
    answer = f"{said.out}{said.err}exit code {code}\n"
    expected = inventory / "expected.txt"
    if renew:
        expected.write_text(answer)
    assert answer == expected.read_text()


def test_there_are_at_least_thirty_and_each_says_something() -> None:
    assert len(BAD) >= 30
    for inventory in BAD:
        answer = (inventory / "expected.txt").read_text()
        assert "error: " in answer or "warning: " in answer, inventory
        assert "  try: " in answer, inventory
        assert "Traceback" not in answer


def _hosts(inventory: Path) -> str:
    return "hosts.ini" if (inventory / "hosts.ini").is_file() else "hosts.yml"
