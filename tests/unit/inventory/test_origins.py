"""Files and lines of what is written, in YAML and INI, in hosts files and beside them."""

from __future__ import annotations

from pathlib import Path

import pytest

from kcluster.inventory.origins import Origins
from kcluster.model.finding import Location

DATA = {
    "all": {"children": ["kafka_broker"]},
    "kafka_broker": {"hosts": ["b1", "b2"]},
    "_meta": {"hostvars": {}},
}


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.chdir(tmp_path)
    (tmp_path / "group_vars" / "all").mkdir(parents=True)
    return tmp_path


def test_yaml_is_found_by_variable_and_by_key_at_the_level_that_wins(folder: Path) -> None:
    (folder / "hosts.yml").write_text(
        "all:\n  children:\n    kafka_broker:\n      vars:\n        kafka_heap: 1g\n"
        "      hosts:\n        b1:\n        b2:\n          kafka_heap: 2g\n"
    )
    (folder / "group_vars" / "all" / "more.yml").write_text("kafka_config:\n  a.b: 1\n  c.d: 2\n")
    origins = Origins(Path("hosts.yml"), DATA)
    assert origins.locate(Location("b1", "kafka_heap")) == "hosts.yml:5"
    assert origins.locate(Location("b2", "kafka_heap")) == "hosts.yml:9"
    assert origins.locate(Location("b1", "kafka_config", "c.d")) == "group_vars/all/more.yml:3"
    assert origins.locate(Location("b1", "kafka_config", "e.f")) == "group_vars/all/more.yml:1"
    assert origins.locate(Location("b1", "kafka_rack")) == "hosts.yml:7"
    assert origins.locate(Location("all", "kafka_heap")) == "hosts.yml:5"


def test_entries_of_lists_are_found_by_their_name(folder: Path) -> None:
    (folder / "hosts.yml").write_text("all:\n  vars:\n    kafka_topics:\n      - name: a\n      - {name: b}\n")
    assert Origins(Path("hosts.yml"), DATA).locate(Location("all", "kafka_topics", "b")) == "hosts.yml:5"


def test_ini_is_found_by_host_group_and_variable(folder: Path) -> None:
    (folder / "hosts").write_text("[kafka_broker]\nb1 kafka_heap=1g\n\n[kafka_broker:vars]\nkafka_rack=a\n")
    origins = Origins(Path("hosts"), DATA)
    assert origins.locate(Location("b1", "kafka_heap")) == "hosts:2"
    assert origins.locate(Location("b1", "kafka_rack")) == "hosts:5"
    assert origins.locate(Location("kafka_broker")) == "hosts:4"
