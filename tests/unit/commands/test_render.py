"""The command line of `render`: what it prints, and how it refuses."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kcluster.app import main


@pytest.fixture
def inventory(project: Path) -> str:
    return str(project / "tests" / "golden" / "racks" / "inventory.yml")


def test_one_node_is_printed_byte_for_byte(inventory: str, project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["render", "-i", inventory, "zookeeper-2"]) == 0
    printed = capsys.readouterr().out
    stored = project / "tests" / "golden" / "racks" / "expected" / "node2" / "etc" / "kafka" / "zookeeper.properties"
    assert printed.startswith(f"# --- node2:/etc/kafka/zookeeper.properties\n{stored.read_text()}\n# --- node2:")


def test_json_has_one_entry_for_each_file(inventory: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["render", "-i", inventory, "node1", "-o", "json"]) == 0
    entries = json.loads(capsys.readouterr().out)
    assert [entry["role"] for entry in entries if entry["node"] == "broker-101"] == [
        "config",
        "logging",
        "environment",
        "unit",
        "script",
    ]
    assert set(entries[0]) == {"host", "node", "path", "text", "mode", "secret", "role"}


def test_yaml_and_json_say_the_same(inventory: str, capsys: pytest.CaptureFixture[str]) -> None:
    import yaml

    main(["render", "-i", inventory, "node1", "--explain", "-o", "json"])
    as_json = json.loads(capsys.readouterr().out)
    main(["render", "-i", inventory, "node1", "--explain", "-o", "yaml"])
    assert yaml.safe_load(capsys.readouterr().out) == as_json


def test_without_an_inventory_it_says_how(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["render"]) == 2
    assert capsys.readouterr().err == (
        "error: no inventory is given\n  try: kcluster render -i INV, or set KCLUSTER_INVENTORY\n"
    )


def test_out_and_explain_exclude_each_other(inventory: str, capsys: pytest.CaptureFixture[str], tmp_path: Path) -> None:
    assert main(["render", "-i", inventory, "--out", str(tmp_path), "--explain"]) == 2
    assert "cannot be used together" in capsys.readouterr().err


def test_an_unknown_host_is_answered_with_the_nearest(inventory: str, capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["render", "-i", inventory, "nod1"]) == 2
    assert "did you mean node1" in capsys.readouterr().err
