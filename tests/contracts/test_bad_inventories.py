"""Each inventory of tests/inventories is wrong as its folder says, and is answered with its expected.txt."""

from __future__ import annotations

from pathlib import Path

import pytest

from kcluster import app

BAD = sorted(path for path in (Path(__file__).parent.parent / "inventories").iterdir() if path.is_dir())


@pytest.mark.parametrize("inventory", BAD, ids=lambda path: path.name)
def test_a_bad_inventory_gets_its_exact_answer(
    inventory: Path, renew: bool, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(inventory)
    monkeypatch.setattr("kcluster.model.rules_structure.fresh_cluster_id", lambda: "AAAAAAAAAAAAAAAAAAAAAA")
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
