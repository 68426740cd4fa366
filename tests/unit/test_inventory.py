"""Reading an inventory: Ansible's answer, the cluster made of it, and what is refused."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kcluster import inventory
from kcluster.clients import ansible
from kcluster.errors import InventoryError

HOSTS = """
all:
  vars: {kafka_version: "3.9.1", kafka_config: {num.partitions: 6, log.retention.hours: 24}}
  children:
    zookeeper:
      hosts: {zk1: {zookeeper_id: 1}}
    kafka_broker:
      vars: {kafka_config: {num.partitions: 12}}
      hosts:
        broker1: {kafka_broker_id: 1, ansible_host: 10.0.0.1}
        broker2: {kafka_broker_id: 2, kafka_config: {num.io.threads: 16}}
"""


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KCLUSTER_CACHE", str(tmp_path / "cache"))


@pytest.fixture
def hosts(tmp_path: Path) -> Path:
    path = tmp_path / "demo" / "hosts.yml"
    path.parent.mkdir()
    path.write_text(HOSTS)
    return path


def test_an_inventory_becomes_a_cluster_whose_levels_add_up(hosts: Path) -> None:
    cluster = inventory.read(hosts)
    assert (cluster.name, cluster.release.version, cluster.bootstrap) == ("demo", "3.9.1", "10.0.0.1:9092,broker2:9092")
    assert cluster.brokers[1].set_by_hand() == {
        "num.partitions": "12",
        "log.retention.hours": "24",
        "num.io.threads": "16",
    }
    assert [layer.source for layer in cluster.brokers[1].layers] == ["cluster", "group kafka_broker", "host broker2"]


def test_an_unchanged_inventory_is_read_without_ansible(hosts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    first = inventory.read(hosts)
    monkeypatch.setattr(ansible, "export_inventory", lambda path: pytest.fail("Ansible was asked again"))
    assert inventory.read(hosts) == first


def test_the_cache_is_readable_by_its_owner_only(hosts: Path, tmp_path: Path) -> None:
    inventory.read(hosts)
    (kept,) = (tmp_path / "cache" / "inventories").iterdir()
    assert kept.stat().st_mode & 0o077 == 0


def test_a_broken_cache_is_made_again(hosts: Path, tmp_path: Path) -> None:
    first = inventory.read(hosts)
    (kept,) = (tmp_path / "cache" / "inventories").iterdir()
    kept.write_text(kept.read_text()[:50])
    assert inventory.read(hosts) == first
    assert len(kept.read_text()) > 50


def test_a_cached_inventory_is_read_without_heavy_imports(hosts: Path) -> None:
    inventory.read(hosts)
    code = (
        "import sys; from pathlib import Path; from kcluster import inventory; "
        f"inventory.read(Path({str(hosts)!r})); "
        "print([m for m in ('yaml', 'subprocess', 'jinja2', 'kcluster.config.property_tables') if m in sys.modules])"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "[]\n"


def test_a_changed_file_is_read_again(hosts: Path) -> None:
    inventory.read(hosts)
    (hosts.parent / "host_vars").mkdir()
    (hosts.parent / "host_vars" / "broker1.yml").write_text("kafka_rack: a\n")
    assert inventory.read(hosts).brokers[0].rack == "a"


def test_a_dynamic_inventory_is_asked_each_time(tmp_path: Path) -> None:
    script = tmp_path / "hosts.sh"
    script.write_text(
        '#!/bin/sh\necho \'{"zookeeper": {"hosts": ["a"], "vars": {"zookeeper_id": 1}}, '
        '"kafka_broker": {"hosts": ["a"], "vars": {"kafka_broker_id": 7}}, "_meta": {"hostvars": {}}}\'\n'
    )
    script.chmod(0o755)
    assert [broker.id for broker in inventory.read(script).brokers] == [7]
    script.write_text(script.read_text().replace("7", "8"))
    assert [broker.id for broker in inventory.read(script).brokers] == [8]
    assert not (tmp_path / "cache").exists()


def test_a_vaulted_value_is_opened_and_never_kept(hosts: Path, monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    password = tmp_path / "password"
    password.write_text("sesame\n")
    monkeypatch.setenv("ANSIBLE_VAULT_PASSWORD_FILE", str(password))
    sealed = subprocess.run(
        [ansible.program("ansible-vault"), "encrypt_string", "hello", "--name", "GREETING"],
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    (hosts.parent / "group_vars").mkdir()
    (hosts.parent / "group_vars" / "kafka_broker.yml").write_text(
        "kafka_environment:\n" + "".join(f"  {line}\n" for line in sealed.splitlines())
    )
    assert inventory.read(hosts).brokers[0].environment == {"GREETING": "hello"}
    assert not (tmp_path / "cache").exists()
    monkeypatch.delenv("ANSIBLE_VAULT_PASSWORD_FILE")
    from kcluster.inventory import vault

    vault._decrypt.cache_clear()
    with pytest.raises(InventoryError, match=r"kafka_broker\.yml cannot .*: no password of vault id default") as caught:
        inventory.read(hosts)
    assert caught.value.resolution == "--vault-password-file FILE"


def test_a_refused_inventory_tells_every_error_with_its_line(hosts: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    hosts.write_text(HOSTS.replace("kafka_broker_id: 2", "kafka_broker_id: 1").replace('"3.9.1"', '"3.8.0"'))
    monkeypatch.chdir(hosts.parent)
    with pytest.raises(InventoryError) as caught:
        inventory.read(Path("hosts.yml"))
    assert caught.value.message == "the inventory hosts.yml is refused: 2 errors"
    assert "broker id 1 is used twice (broker1, broker2)\n  at hosts.yml:11" in caught.value.details
    assert "Kafka 3.8.0 is not a known release\n  at hosts.yml:3" in caught.value.details


def test_an_inventory_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(InventoryError, match="there is no inventory"):
        inventory.read(tmp_path / "nowhere")


def test_a_file_that_cannot_be_read_is_named(hosts: Path) -> None:
    (hosts.parent / "group_vars").mkdir()
    os.symlink("nowhere", hosts.parent / "group_vars" / "all.yml")
    with pytest.raises(InventoryError, match=r"cannot read .*all\.yml: No such file"):
        inventory.read(hosts)


def test_yaml_that_does_not_parse_is_told_with_its_line(hosts: Path) -> None:
    (hosts.parent / "group_vars").mkdir()
    (hosts.parent / "group_vars" / "all.yml").write_text("kafka_rack: a\nkafka_heap: [\n")
    with pytest.raises(InventoryError, match=r"group_vars/all\.yml:3 is not valid YAML"):
        inventory.read(hosts)


def test_what_ansible_says_is_passed_on_when_the_yaml_is_not_the_reason(tmp_path: Path) -> None:
    path = tmp_path / "hosts.yml"
    path.write_text("all: {hosts: [a, b]}\n")
    with pytest.raises(InventoryError, match="Ansible cannot read") as caught:
        inventory.read(path)
    assert "Completely failed to parse" in caught.value.details
    assert caught.value.resolution.startswith("ansible-inventory -i ")
