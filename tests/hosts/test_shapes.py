"""Clusters of other shapes than three hosts with everything on each: keepers apart, two doors, racks, two disks."""

from __future__ import annotations

import json
from typing import Any

import yaml

from tests.hosts.fleet import Fleet, NewFleet
from tests.lab.machine import run, wait_until

BETWEEN, OUTSIDE = 9092, 9094
TRANSLATED = 19094
"""The port under which a broker is known outside: the network translates it, and Kafka does not know."""

APART = """
all:
  vars:
    kcluster_name: apart
    kafka_version: 3.9.2
    kafka_cluster_id: PbWmCmMSSbSvDeFTl9mVrA
    kafka_heap: 256m
    kafka_controller_heap: 192m
    kafka_release_sources: [cache, maven]
    kafka_data_dirs: [/data/1/kafka, /data/2/kafka]
    kafka_inter_broker_listener: between
    kafka_config: {offsets.topic.num.partitions: 6, transaction.state.log.num.partitions: 3}
  children:
    kafka_controller:
      hosts: {h1: {kafka_controller_id: 3001}}
    kafka_broker:
      hosts:
        h2: {kafka_broker_id: 2, kafka_rack: north}
        h3: {kafka_broker_id: 3, kafka_rack: north}
        h4: {kafka_broker_id: 4, kafka_rack: south}
"""

KEEPER_APART = """
all:
  vars:
    kcluster_name: keeper
    kafka_heap: 256m
    zookeeper_heap: 128m
    zookeeper_chroot: /trucks
    zookeeper_log_dir: /var/lib/zookeeper-log
    kafka_config:
      offsets.topic.num.partitions: 1
      offsets.topic.replication.factor: 1
      transaction.state.log.replication.factor: 1
      transaction.state.log.min.isr: 1
      default.replication.factor: 1
      min.insync.replicas: 1
  children:
    zookeeper: {hosts: {h1: {zookeeper_id: 1}}}
    kafka_broker: {hosts: {h2: {kafka_broker_id: 1}}}
"""


def kcluster(fleet: Fleet, *words: str, code: int = 0) -> str:
    done = fleet.run(*words, "-i", str(fleet.inventory), check=False)
    assert done.returncode == code, f"{words} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout


def told(fleet: Fleet, *words: str, code: int = 0) -> Any:
    """The same, as programs read it."""
    return json.loads(kcluster(fleet, *words, "-o", "json", code=code))


def give_brokers_a_door_to_the_outside(fleet: Fleet) -> dict[str, str]:
    """A second address and a translated port for each broker, and the listener that says so; the addresses."""
    cluster = yaml.safe_load((fleet.inventory / "cluster.yml").read_text())
    brokers = cluster["all"]["children"]["kafka_broker"]["hosts"]
    outside = {name: fleet.lab.network.address(100 + int(name[1:])) for name in brokers}
    for name, address in outside.items():
        namespace = fleet.lab.host(name).cable.namespace
        run("ip", "-n", namespace, "addr", "add", f"{address}/24", "dev", "eth0")
        rule = f"ip daddr {address} tcp dport {TRANSLATED} redirect to :{OUTSIDE}"
        table = f"table ip door {{\nchain in {{ type nat hook prerouting priority -100; {rule}; }}\n}}\n"
        run("ip", "netns", "exec", namespace, "nft", "-f", "-", input=table)
        brokers[name]["kafka_listeners"] = [
            {"name": "outside", "port": OUTSIDE, "advertised_host": address, "advertised_port": TRANSLATED},
            {"name": "between", "port": BETWEEN},
        ]
    fleet.write(yaml.safe_dump(cluster))
    return outside


def give_disks(fleet: Fleet, host: str, disks: list[str]) -> None:
    """Other data directories for the broker of one host."""
    cluster = yaml.safe_load((fleet.inventory / "cluster.yml").read_text())
    cluster["all"]["children"]["kafka_broker"]["hosts"][host]["kafka_data_dirs"] = disks
    fleet.write(yaml.safe_dump(cluster))


def test_kraft_with_a_controller_apart_two_doors_racks_and_two_disks(fleet: NewFleet) -> None:
    apart = fleet(4, APART)
    outside = give_brokers_a_door_to_the_outside(apart)
    assert "1 controller" in kcluster(apart, "validate")
    told(apart, "check")

    first = told(apart, "provision", "--yes")
    assert first["holds"] is True
    assert told(apart, "check")  # the doors of nodes that run, through the translation as well
    second = told(apart, "provision", "--yes")
    assert (second["changed"], second["restarted"], second["holds"]) == ([], [], True)
    kcluster(apart, "health", "--wait", "60s")

    # Each host has its own part and nothing of the others.
    listed = "cd /etc/systemd/system && ls kafka*.service"
    units = {host.name: apart.lab.ssh(host.name, listed).split() for host in apart.lab.hosts}
    assert units == {"h1": ["kafka-controller.service"], **{name: ["kafka.service"] for name in outside}}
    settings = apart.lab.ssh("h4", "cat /etc/kafka/server.properties")
    assert "inter.broker.listener.name=BETWEEN" in settings
    assert f"OUTSIDE://{outside['h4']}:{TRANSLATED}" in settings

    # Clients from outside are sent to outside addresses only, and what they write is kept.
    entry = f"{outside['h2']}:{TRANSLATED}"
    proof = json.loads(apart.run("smoke", "--timeout", "90", "-b", entry, "-o", "json").stdout)
    assert proof["holds"] is True

    # Two replicas on three brokers: one of each pair is in the other rack, and both disks of a broker have some.
    kcluster(apart, "topic", "create", "spread", "-p", "12", "-r", "2", "-c", "min.insync.replicas=1")
    topic = told(apart, "topic", "describe", "spread")[0]
    assert all(sorted(part["racks"]) == ["north", "south"] for part in topic["partitions"])
    for name in outside:
        for disk in ("/data/1/kafka", "/data/2/kafka"):
            look = f"ls {disk}"
            wait_until(lambda name=name, look=look: "spread-" in apart.lab.ssh(name, look), 30, f"{look} on {name}")  # type: ignore[misc]

    # A broker can be spared; the only controller cannot, unless its absence is accepted.
    refused = apart.run("restart", "-i", str(apart.inventory), "controller-3001", "broker-4", "--yes", check=False)
    assert refused.returncode == 4
    assert "without controller-3001 there is no majority of 1 controllers" in refused.stderr
    assert [step["node"] for step in told(apart, "restart", "h4", "--yes")["steps"]] == ["broker-4"]
    steps = told(apart, "restart", "h1", "--yes", "--unsafe-partitions")["steps"]
    assert [step["node"] for step in steps] == ["controller-3001"]

    _a_running_broker_gets_one_more_disk(apart)
    kcluster(apart, "health", "--wait", "60s")


def _a_running_broker_gets_one_more_disk(apart: Fleet) -> None:
    """Behind the others: formatted before the restart. Before them Kafka would not start, so that is refused."""
    old, fresh = ["/data/1/kafka", "/data/2/kafka"], "/data/3/kafka"
    apart.run("produce", "spread", "-i", str(apart.inventory), input="\n".join(map(str, range(100))))
    give_disks(apart, "h4", [fresh, *old])
    (refusal,) = told(apart, "plan", code=4)["refused"]
    assert refusal["what"] == f"broker-4 on h4: {old[0]} has the cluster's metadata log, but {fresh} comes first"

    give_disks(apart, "h4", [*old, fresh])
    grown = told(apart, "provision", "--yes", "--no-smoke")
    assert [step.split()[0] for step in grown["restarted"]] == ["broker-4"]
    assert "node.id=4" in apart.lab.ssh("h4", f"cat {fresh}/meta.properties")
    assert "recovery-point-offset-checkpoint" in apart.lab.ssh("h4", f"ls {fresh}"), "the broker uses it"
    read = kcluster(apart, "consume", "spread", "--from-beginning", "-e")
    assert sorted(map(int, read.split())) == list(range(100))
    assert told(apart, "plan")["nothing"] is True


def test_a_zookeeper_server_apart_from_the_broker_with_a_log_of_its_own_and_a_path_of_its_own(fleet: NewFleet) -> None:
    pair = fleet(2, KEEPER_APART)
    assert told(pair, "provision", "--yes")["holds"] is True
    assert told(pair, "provision", "--yes", "--no-smoke")["changed"] == []
    assert "log." in pair.lab.ssh("h1", "ls /var/lib/zookeeper-log/version-2")
    asked = pair.lab.ssh("h2", "grep zookeeper.connect= /etc/kafka/server.properties")
    assert asked.strip() == f"zookeeper.connect={pair.lab.host('h1').address}:2181/trucks"
    units = {name: pair.lab.ssh(name, "ls /etc/systemd/system").split() for name in ("h1", "h2")}
    assert ("zookeeper.service" in units["h1"], "kafka.service" in units["h1"]) == (True, False)
    assert ("zookeeper.service" in units["h2"], "kafka.service" in units["h2"]) == (False, True)
    steps = told(pair, "restart", "--yes", "--unsafe-partitions")["steps"]
    assert [step["node"] for step in steps] == ["zookeeper-1", "broker-1"]
