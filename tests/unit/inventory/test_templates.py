"""Templates in variables, evaluated by the real Ansible."""

from __future__ import annotations

import stat
import subprocess
from pathlib import Path

import pytest

from kcluster import inventory
from kcluster.clients import ansible
from kcluster.clients.ansible import inventory_export
from kcluster.config.escaping import masked
from kcluster.config.setting import HIDDEN
from kcluster.errors import InventoryError
from kcluster.inventory import Loaded, cache

PASSWORD = "open sesame"

HOSTS = """
all:
  vars:
    domain: example.net
    release: "3.9.2"
    kafka_version: "{{ release }}"
    kafka_config: {log.retention.hours: "{{ 24 * 7 }}", untouched: 1}
    ansible_user: "{{ lookup('env', 'STAGING_USER') }}"
    ansible_ssh_private_key_file: "{{ inventory_dir }}/key"
  children:
    zookeeper:
      hosts: {z1: {zookeeper_id: 1}}
    kafka_broker:
      vars:
        kafka_rack: "{{ zone }}"
        kafka_listeners: [{name: internal, port: "{{ 9000 + kafka_broker_id }}", advertised_host: "{{ named }}"}]
        named: "{{ inventory_hostname }}.{{ domain }}"
        kafka_config:
          from.the.vault: "{{ keystore }}"
          from.a.program: "{{ lookup('pipe', 'echo hi') }}"
          beside: "{{ hostvars['b1'].kafka_broker_id }} of {{ groups['kafka_broker'] | length }}"
          plain: "{{ domain }}"
        keystore: "{{ vault_keystore }}"
      hosts:
        b1: {kafka_broker_id: 1, zone: a, ansible_host: "{{ named }}"}
        b2: {kafka_broker_id: 2, zone: b, kafka_data_dirs: ["/data/{{ zone }}/1", /data/2]}
"""


@pytest.fixture(scope="module")
def loaded(tmp_path_factory: pytest.TempPathFactory) -> Loaded:
    folder = tmp_path_factory.mktemp("templates")
    (folder / "hosts.yml").write_text(HOSTS)
    (folder / "group_vars").mkdir()
    password = folder / ".password"
    password.write_text(PASSWORD)
    secret = subprocess.run(
        [ansible.program("ansible-vault"), "encrypt", "--vault-password-file", password, "--output", "-"],
        input="vault_keystore: hunter2\n",
        capture_output=True,
        text=True,
        check=True,
    )
    (folder / "group_vars/all.yml").write_text(secret.stdout)
    with pytest.MonkeyPatch.context() as monkeypatch:
        monkeypatch.setenv("ANSIBLE_VAULT_PASSWORD_FILE", str(password))
        monkeypatch.setenv("STAGING_USER", "stage")
        return inventory.load(folder)


def test_each_host_has_the_values_that_its_templates_give(loaded: Loaded) -> None:
    cluster = inventory.cluster_of(loaded)
    first, second = cluster.brokers
    assert cluster.release.version == "3.9.2"
    assert [broker.rack for broker in cluster.brokers] == ["a", "b"]
    assert [broker.internal.advertised_host for broker in cluster.brokers] == ["b1.example.net", "b2.example.net"]
    assert [broker.internal.port for broker in cluster.brokers] == [9001, 9002]
    assert (first.host.address, second.host.address) == ("b1.example.net", "b2")
    assert second.data_dirs == ("/data/b/1", "/data/2")


def test_levels_add_up_as_without_templates(loaded: Loaded) -> None:
    broker = inventory.cluster_of(loaded).brokers[1]
    by_level = {layer.source: layer.properties for layer in broker.layers}
    assert by_level["cluster"] == {"log.retention.hours": "168", "untouched": "1"}
    assert by_level["group kafka_broker"]["beside"] == "1 of 2"
    assert by_level["group kafka_broker"]["plain"] == "example.net"


def test_logins_are_evaluated_by_ansible_too(loaded: Loaded) -> None:
    login = inventory.logins(loaded)["b1"]
    assert (login.address, login.user) == ("b1.example.net", "stage")
    assert login.key_file == str(loaded.path / "key")


def test_what_comes_from_a_vault_or_from_who_knows_where_is_a_secret(loaded: Loaded) -> None:
    broker = inventory.cluster_of(loaded).brokers[0]
    assert next(layer for layer in broker.layers if layer.source != "cluster").properties["from.the.vault"] == "hunter2"
    shown = {name: masked(name, "x") for name in ("from.the.vault", "from.a.program", "plain")}
    assert shown == {"from.the.vault": HIDDEN, "from.a.program": HIDDEN, "plain": "x"}


def test_no_finding_shows_what_a_secret_template_gave(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts.yml"
    secret = "lookup('pipe', 'echo hunter2')"
    hosts.write_text(f"""
all:
  vars:
    kafka_release_sources: "{{{{ {secret} }}}}"
    kafka_listeners: [{{name: "{{{{ {secret} }}}}", port: "{{{{ {secret} }}}}", protocol: "{{{{ {secret} }}}}"}}]
    kafka_heap: "{{{{ {{'a': 1}}[{secret}] }}}}"
  children: {{kafka_broker: {{hosts: {{h1: {{kafka_broker_id: 1}}}}}}}}
""")
    _, findings = inventory.cluster_from(inventory.load(hosts).data)
    told = [finding for finding in findings if finding.spot.variable]
    assert {finding.spot.variable for finding in told} == {"kafka_release_sources", "kafka_listeners", "kafka_heap"}
    shown = [text for finding in told for text in (finding.message, finding.resolution, repr(finding.snippet))]
    assert not [text for text in shown if "hunter2" in text.replace("echo hunter2", "").lower()]


def test_a_lookup_is_asked_each_time_and_never_kept(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCLUSTER_CACHE", str(tmp_path / "cache"))
    hosts = tmp_path / "hosts.yml"
    hosts.write_text("all: {hosts: {h1: {kafka_rack: \"{{ lookup('env', 'AZ') }}\"}}}")
    for zone in ("a-1", "b-2"):
        monkeypatch.setenv("AZ", zone)
        given = cache.export(hosts)["_meta"]["templates"]["h1"][""]["kafka_rack"]
        assert given == [{"way": [], "template": "{{ lookup('env', 'AZ') }}", "value": zone, "secret": False}]
    kept = [path.read_text() for path in (tmp_path / "cache").rglob("*") if path.is_file()]
    assert not any("a-1" in text for text in kept)


def test_a_lookup_that_does_not_answer_is_given_up(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(inventory_export, "PATIENCE", 0.5)
    program = tmp_path / "slow"
    program.write_text(f"#!/bin/sh\nsleep 30\ntouch {tmp_path}/answered\n")
    program.chmod(program.stat().st_mode | stat.S_IXUSR)
    hosts = tmp_path / "hosts.yml"
    slow = f"{{{{ lookup('pipe', '{program}') }}}}"
    hosts.write_text(f'all: {{hosts: {{h1: {{ansible_host: "{slow}"}}, h2: {{ansible_user: "{slow}"}}}}}}')
    with pytest.raises(InventoryError, match=r"ansible_host of h1: .*slow.* has no value: it took longer than 0.5 s"):
        inventory.logins(inventory.load(hosts))
    assert not (tmp_path / "answered").exists(), "it was waited for"


def test_facts_that_ansible_kept_are_not_taken(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANSIBLE_CACHE_PLUGIN", "jsonfile")
    monkeypatch.setenv("ANSIBLE_CACHE_PLUGIN_CONNECTION", str(tmp_path))
    for name in ("h1", "s1_h1"):
        (tmp_path / name).write_text('{"ansible_hostname": "old"}')
    hosts = tmp_path / "hosts.yml"
    hosts.write_text('all: {hosts: {h1: {ansible_host: "{{ ansible_facts.hostname }}"}}}')
    with pytest.raises(InventoryError, match="has no value") as refused:
        inventory.logins(inventory.load(hosts))
    assert "facts of hosts are not known" in refused.value.resolution
