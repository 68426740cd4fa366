"""The collection on real hosts with plain ansible-playbook, without the CLI."""

from __future__ import annotations

import os
import re
import subprocess
import sys
import sysconfig
import venv
from pathlib import Path

import pytest

from tests.hosts.fleet import PROJECT, SOLO, TRIO_ZK, Fleet, NewFleet
from tests.hosts.spark import TRIO_SPARK

ONE_KRAFT = """
all:
  vars:
    kcluster_name: one
    kafka_version: 4.2.0
    kafka_cluster_id: PbWmCmMSSbSvDeFTl9mVrA
    kafka_heap: 256m
    kafka_controller_heap: 192m
    kafka_release_sources: [cache, maven]
    kafka_data_dirs: [/var/lib/kafka/a, /var/lib/kafka/b]
    kafka_config:
      {offsets.topic.num.partitions: 6, default.replication.factor: 1, min.insync.replicas: 1}
  children:
    kafka_controller: {hosts: {h1: {kafka_controller_id: 3001}}}
    kafka_broker: {hosts: {h1: {kafka_broker_id: 1}}}
"""

BROKERS = """
import logging, sys, time
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
quiet = logging.getLogger("quiet")
quiet.disabled = True
client = AdminClient({"bootstrap.servers": sys.argv[1]}, logger=quiet)
found, end = [], time.monotonic() + 120
while len(found) < int(sys.argv[2]) and time.monotonic() < end:
    try:
        found = sorted(client.list_topics(timeout=5).brokers)
    except KafkaException:
        found = []
print(found)
"""
ARCHIVES = "grep -c '/var/cache/kafka/.*jsa$' /proc/$(systemctl show -p MainPID --value kafka)/maps"


def test_bare_hosts_become_a_cluster_and_stay_as_they_are(fleet: NewFleet) -> None:
    trio = fleet(3, TRIO_SPARK)
    asked = trio.ansible("provision.yml", "--check", "--diff")
    assert changed(asked.stdout) == {"h1": True, "h2": True, "h3": True}
    assert "+zookeeper.connect=" in asked.stdout
    assert "+spark.deploy.zookeeper.url=" in asked.stdout
    assert "a secret of the lab" not in asked.stdout
    for host in trio.lab.hosts:
        left = trio.lab.ssh(
            host.name, "cd /; ls -d {etc,opt,var/lib}/{kafka,spark}; grep -E 'kafka|spark' /etc/passwd; true"
        )
        assert left == ""
    trio.write(TRIO_ZK)

    trio.ansible("provision.yml")
    assert brokers(trio, "h1", 3) == "[1, 2, 3]"
    assert trio.lab.ssh("h2", "systemctl is-enabled zookeeper kafka").split() == ["enabled", "enabled"]
    assert changed(trio.ansible("provision.yml").stdout) == NOTHING
    assert changed(trio.ansible("provision.yml", "--check", "--diff").stdout) == NOTHING

    # A setting changes: it is written, and who needs a restart is said; nothing is restarted.
    before = pids(trio)
    trio.write(TRIO_ZK.replace("kafka_heap: 256m", "kafka_heap: 288m"))
    told = trio.ansible("provision.yml", "--diff")
    assert "-Xmx288m" in told.stdout
    assert re.search(r"broker-2 runs as it was started and needs a restart", " ".join(told.stderr.split()))
    assert pids(trio) == before
    again = trio.ansible("provision.yml")
    assert changed(again.stdout) == NOTHING
    assert "broker-1 runs as it was started" in " ".join(again.stderr.split())

    # The first orderly stop with these options leaves an archive of classes, and the next start uses it.
    for _ in range(2):
        trio.lab.ssh("h1", "systemctl restart kafka")
        assert brokers(trio, "h1", 3) == "[1, 2, 3]"
    assert int(trio.lab.ssh("h1", ARCHIVES)) > 0
    quiet = trio.ansible("provision.yml")
    assert "broker-1 runs" not in " ".join(quiet.stderr.split())

    # A node that was stopped is started again, alone.
    trio.lab.ssh("h3", "systemctl stop kafka; systemctl kill -s KILL zookeeper; systemctl stop zookeeper; true")
    assert changed(trio.ansible("provision.yml").stdout) == {**NOTHING, "h3": True}
    assert brokers(trio, "h1", 3) == "[1, 2, 3]"


def test_a_host_that_is_refused_stops_all_before_anything_starts(fleet: NewFleet) -> None:
    trio = fleet(3, TRIO_ZK)
    trio.lab.ssh("h2", "mkdir -p /var/lib/zookeeper && echo 9 >/var/lib/zookeeper/myid")
    said = refused(trio)
    assert "/var/lib/zookeeper/myid says 9, but the inventory says zookeeper_id: 2" in said
    trio.lab.ssh("h2", "cd /var/lib; rm zookeeper/myid; mkdir -p kafka; echo broker.id=7 >kafka/meta.properties")
    assert "belongs to the node 7, but the inventory says kafka_broker_id: 2" in refused(trio)
    trio.lab.ssh("h2", "rm -r /var/lib/kafka; echo '/dev/vdb1 /var/lib/kafka ext4 defaults 0 2' >>/etc/fstab")
    assert "file system of /var/lib/kafka, which is not mounted; mount it: mount /var/lib/kafka" in refused(trio)
    unit = "/etc/systemd/system/kafka.service"
    trio.lab.ssh("h2", f"sed -i /vdb1/d /etc/fstab; echo 'Description=Kafka broker 2 of two' >{unit}")
    assert f"{unit} belongs to the cluster two, but the inventory says kcluster_name: trio" in refused(trio)
    assert trio.lab.ssh("h2", f"cat {unit}; rm {unit}") == "Description=Kafka broker 2 of two\n"
    assert "kafka_heap: given with -e, but set in the inventory only" in refused(trio, "-e", "kafka_heap=1g")
    _links_of_a_service_lead_root_nowhere(trio)
    for host in ("h1", "h2", "h3"):
        assert "inactive" in trio.lab.ssh(host, "systemctl is-active zookeeper kafka; true")


def _links_of_a_service_lead_root_nowhere(trio: Fleet) -> None:
    """A server whose account was taken over links its `myid` to a file of root, and another one its data directory."""
    trio.write(TRIO_ZK.replace("kafka_broker_id: 3", "kafka_broker_id: 3, kafka_data_dirs: [/srv/data/kafka]"))
    keep = "mkdir -m 700 /root/keep; echo 9 of root >/root/kept; chmod 600 /root/kept; "
    look = "stat -c '%n %U:%G %a' /root/keep /root/kept; cat /root/kept"
    owned = "install -d -o kafka -g kafka {0}; runuser -u kafka -- ln -s {1} {0}/{2}"
    kept = [trio.lab.ssh(host, keep + look) for host in ("h2", "h3")]
    trio.lab.ssh("h2", owned.format("/var/lib/zookeeper", "/root/kept", "myid"))
    trio.lab.ssh("h3", owned.format("/srv/data", "/root/keep", "kafka"))
    said = refused(trio)
    for link, target in (("/var/lib/zookeeper/myid", "/root/kept"), ("/srv/data/kafka", "/root/keep")):
        assert f"{link} is a symbolic link to {target} and belongs to the account " in said
        assert f"try: find out who made it, then remove it: rm {link}" in said
    assert "9 of root" not in said
    assert [trio.lab.ssh(host, look) for host in ("h2", "h3")] == kept


@pytest.fixture(scope="module")
def installed(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A Python with Ansible but without kcluster, and the collection as its users install it; gives the folder."""
    folder = tmp_path_factory.mktemp("installed")
    venv.create(folder, with_pip=False)
    python = folder / "bin/python"
    (next(folder.glob("lib/python*/site-packages")) / "ansible.pth").write_text(sysconfig.get_path("purelib"))
    for word in ("ansible-playbook", "ansible-inventory", "ansible-galaxy"):
        original = Path(sys.executable).with_name(word)
        (folder / "bin" / word).write_text(f'#!/bin/sh\nexec {python} {original} "$@"\n')
        (folder / "bin" / word).chmod(0o755)
    galaxy = [str(folder / "bin/ansible-galaxy"), "collection"]
    environment = {**os.environ, "ANSIBLE_COLLECTIONS_PATH": str(folder)}
    subprocess.run([*galaxy, "build", str(PROJECT), "--output-path", str(folder)], check=True, env=environment)
    (archive,) = folder.glob("*.tar.gz")
    subprocess.run([*galaxy, "install", str(archive), "--offline", "-p", str(folder)], check=True, env=environment)
    collection = folder / "ansible_collections/kcluster/kafka"
    assert all((collection / name).is_file() for name in ("roles/spark/tasks/main.yml", "templates/spark/spark.env.j2"))
    return folder


def test_the_installed_collection_brings_up_kraft_and_formats_it_once(
    fleet: NewFleet, installed: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert (
        subprocess.run([installed / "bin/python", "-c", "import kcluster.paths"], capture_output=True).returncode == 1
    )
    one = fleet(1, ONE_KRAFT)
    monkeypatch.setenv("ANSIBLE_COLLECTIONS_PATH", str(installed))
    command = [installed / "bin/ansible-playbook", "-i", one.inventory, "kcluster.kafka.provision"]
    for more in (["--check", "--diff"], []):
        done = one.lab.run([*command, *more])
        assert done.returncode == 0, done.stdout + done.stderr
    monkeypatch.undo()
    assert brokers(one, "h1", 1) == "[1]"
    metas = "cd /var/lib; cat kafka/a/meta.properties kafka/b/meta.properties kafka-controller/meta.properties"
    written = one.lab.ssh("h1", metas)
    assert written.count("cluster.id=PbWmCmMSSbSvDeFTl9mVrA") == 3
    assert one.lab.ssh("h1", "stat -c %U /var/lib/kafka/*/meta.properties").split() == ["kafka", "kafka"]
    assert changed(one.ansible("provision.yml").stdout) == {"h1": False}
    one.write(ONE_KRAFT.replace("PbWm", "AbWm"))
    assert "belongs to the cluster PbWmCmMSSbSvDeFTl9mVrA" in refused(one)
    assert one.lab.ssh("h1", metas) == written


SECRETS = """
      ssl.keystore.password: S3cret-config
      listener.name.internal.plain.sasl.jaas.config: a.Module required username="a" password="S3cret-jaas";
    kafka_environment: {APP_PASSWORD: S3cret-environment, KAFKA_OPTS: -Djavax.net.ssl.keyStorePassword=S3cret-option}
    zookeeper_environment: {APP_PASSWORD: S3cret-zookeeper}
"""
ALONE = """
- hosts: all
  become: true
  gather_facts: false
  roles: [kcluster.kafka.host, kcluster.kafka.release, kcluster.kafka.zookeeper, kcluster.kafka.kafka]
"""


def test_secrets_of_the_configuration_are_in_no_output_and_no_file_of_others(fleet: NewFleet, tmp_path: Path) -> None:
    one = fleet(1, SOLO.rstrip("\n").replace("min.insync.replicas: 1", "min.insync.replicas: 1" + SECRETS.rstrip()))
    (tmp_path / "roles.yml").write_text(ALONE)
    done = one.run("provision", "-i", str(one.inventory), "--yes", "-o", "json", "--no-smoke")
    said = [done.stdout, done.stderr, *(path.read_text() for path in one.home.rglob("*.jsonl"))]
    one.write((one.inventory / "cluster.yml").read_text().replace("S3cret", "S3cret-new"))
    told = one.ansible(str(tmp_path / "roles.yml"), "-vvv", "--diff")
    one.lab.ssh("h1", "sed -i s/broker.id=.*/broker.id=7/ /var/lib/kafka/meta.properties")
    failed = one.ansible("provision.yml", "-vvv", "--diff", check=False)
    shown = "".join([*said, told.stdout, told.stderr, failed.stdout, failed.stderr])
    assert "(a secret changes)" in shown
    assert "belongs to the node 7" in shown
    assert [line for line in shown.splitlines() if "S3cret" in line] == []
    held = one.lab.ssh(
        "h1", "journalctl | grep -c S3cret; grep -rl S3cret /etc /run /tmp /opt/kafka/*.sh /var/l*; true"
    )
    count, *files = held.split()
    assert (count, "/etc/kafka/server.properties" in files) == ("0", True)
    assert set(one.lab.ssh("h1", f"stat -c %A {' '.join(files)} | cut -c8-").split()) == {"---"}


NOTHING = {"h1": False, "h2": False, "h3": False}


def changed(recap: str) -> dict[str, bool]:
    """Which hosts were changed, out of Ansible's last lines; none may have failed."""
    lines = re.findall(r"^(h\d) +: ok=\d+ +changed=(\d+) +unreachable=0 +failed=0 ", recap, re.M)
    return {host: number != "0" for host, number in lines}


def refused(fleet: Fleet, *args: str) -> str:
    """What a playbook that fails says, in one line."""
    done = fleet.ansible("provision.yml", *args, check=False)
    assert done.returncode != 0
    return " ".join((done.stdout + done.stderr).split())


def brokers(fleet: Fleet, host: str, number: int) -> str:
    """The ids of the brokers that a broker knows, as soon as there are so many."""
    return fleet.python(BROKERS, f"{fleet.lab.host(host).address}:9092", str(number)).stdout.strip()


def pids(fleet: Fleet) -> list[str]:
    """The processes of all nodes."""
    show = "systemctl show -p MainPID --value zookeeper kafka"
    return [fleet.lab.ssh(host.name, show) for host in fleet.lab.hosts]
