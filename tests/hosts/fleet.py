"""A cluster on hosts of the lab: its inventory, and the real CLI run where it reaches them."""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path

import yaml

from tests.children import child
from tests.lab import Lab

PROJECT = Path(__file__).parents[2]

LIGHT = {"KAFKA_JVM_PERFORMANCE_OPTS": "-XX:+UseG1GC -XX:TieredStopAtLevel=1"}
"""A test's Kafka lives for a minute, so the second compiler of its JVM never pays: two fifths of a start's CPU less."""

SMALL = """
    kcluster_name: {name}
    kafka_heap: 256m
    zookeeper_heap: 128m
    kafka_controller_heap: 192m
    kafka_release_sources: [cache, maven]
    kafka_config: {{offsets.topic.num.partitions: 6, transaction.state.log.num.partitions: 3}}
"""
"""What the clusters of the lab have in common: they are small."""

TRIO_ZK = (
    "all:\n  vars:"
    + SMALL.format(name="trio")
    + """
  children:
    zookeeper:
      hosts: {h1: {zookeeper_id: 1}, h2: {zookeeper_id: 2}, h3: {zookeeper_id: 3}}
    kafka_broker:
      hosts: {h1: {kafka_broker_id: 1}, h2: {kafka_broker_id: 2}, h3: {kafka_broker_id: 3}}
"""
)
"""Three hosts with a ZooKeeper server and a broker each."""

TRIO_KRAFT = (
    "all:\n  vars:"
    + SMALL.format(name="triokraft")
    + """    kafka_version: 4.2.0
    kafka_cluster_id: PbWmCmMSSbSvDeFTl9mVrA
  children:
    kafka_controller:
      hosts: {h1: {kafka_controller_id: 3001}, h2: {kafka_controller_id: 3002}, h3: {kafka_controller_id: 3003}}
    kafka_broker:
      hosts: {h1: {kafka_broker_id: 1}, h2: {kafka_broker_id: 2}, h3: {kafka_broker_id: 3}}
"""
)
"""The same with controllers."""


SOLO = """
all:
  vars:
    kcluster_name: solo
    kafka_heap: 256m
    zookeeper_heap: 128m
    kafka_config:
      offsets.topic.num.partitions: 1
      offsets.topic.replication.factor: 1
      transaction.state.log.replication.factor: 1
      transaction.state.log.min.isr: 1
      default.replication.factor: 1
      min.insync.replicas: 1
  children:
    zookeeper: {hosts: {h1: {zookeeper_id: 1}}}
    kafka_broker: {hosts: {h1: {kafka_broker_id: 1}}}
"""
"""One host with a ZooKeeper server and a broker: every step of a first run, in a few seconds."""

SOLO_KRAFT = SOLO.replace(
    "    zookeeper_heap: 128m\n",
    "    kafka_controller_heap: 192m\n    kafka_version: 4.2.0\n    kafka_cluster_id: -bWmCmMSSbSvDeFTl9mVrA\n",
).replace("zookeeper: {hosts: {h1: {zookeeper_id: 1}}}", "kafka_controller: {hosts: {h1: {kafka_controller_id: 3001}}}")
"""The same with a controller, so that storage is formatted too, with an id that begins like an option."""


@dataclass(frozen=True)
class Fleet:
    """Hosts of a lab and the inventory of a cluster on them."""

    lab: Lab
    inventory: Path
    home: Path
    env: Mapping[str, str] = field(default_factory=dict)

    @property
    def bootstrap(self) -> str:
        """The addresses of its brokers, where every host has one at the usual port."""
        return ",".join(f"{host.address}:9092" for host in self.lab.hosts)

    def write(self, cluster: str) -> None:
        """Change what the inventory says."""
        (self.inventory / "cluster.yml").write_text(cluster)

    def process(
        self, *args: str, env: Mapping[str, str] | None = None, own_group: bool = False
    ) -> AbstractContextManager[subprocess.Popen[str]]:
        """Start the CLI for a block, which waits for it at its end; both its streams are pipes.

        In a group of its own it can be sent what a terminal sends, which reaches all that belongs to the command.
        """
        return child(
            self._inside(sys.executable, "-m", "kcluster", *args),
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.PIPE,
            text=True,
            env=self._environment(env),
            process_group=0 if own_group else None,
        )

    def run(
        self, *args: str, check: bool = True, input: str = "", env: Mapping[str, str] | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run the CLI as a user would."""
        return self._run(self._inside(sys.executable, "-m", "kcluster", *args), check, input, self._environment(env))

    def ansible(self, playbook: str, *args: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a playbook of the project with plain ansible-playbook, from the checkout."""
        program = str(Path(sys.executable).with_name("ansible-playbook"))
        command = self._inside(program, "-i", str(self.inventory), str(PROJECT / "playbooks" / playbook), *args)
        return self._run(command, check, "", self._environment(None))

    def python(self, code: str, *args: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        """Run a piece of Python where it reaches the hosts: a client of the cluster."""
        return self._run(self._inside(sys.executable, "-c", code, *args), check, "", self._environment(None))

    def _inside(self, *command: str) -> list[str]:
        return ["ip", "netns", "exec", self.lab.network.namespace, *command]

    def _environment(self, more: Mapping[str, str] | None) -> dict[str, str]:
        return {**os.environ, "KCLUSTER_HOME": str(self.home), "COLUMNS": "120", **self.env, **(more or {})}

    def _run(
        self, command: list[str], check: bool, input: str, env: Mapping[str, str]
    ) -> subprocess.CompletedProcess[str]:
        done = subprocess.run(
            command, input=input, capture_output=True, text=True, env=env, timeout=800, cwd=PROJECT, check=False
        )
        assert not check or done.returncode == 0, (
            f"{command[4:]} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
        )
        return done


def served(fleet: Fleet) -> None:
    """Wait until all serve that plain Ansible started, and forget it where systemd had to start one twice."""
    fleet.run("start", "-i", str(fleet.inventory), "--yes")
    for host in fleet.lab.hosts:
        fleet.lab.ssh(host.name, "systemctl reset-failed")
    fleet.run("health", "-i", str(fleet.inventory), "--wait", "120s")


NewFleet = Callable[[int, str], Fleet]


def fleet_on(lab: Lab, cluster: str, folder: Path, environment: Mapping[str, str] = LIGHT) -> Fleet:
    """The hosts of a lab as the cluster that a YAML text describes."""
    inventory = folder / "inventory"
    inventory.mkdir(parents=True)
    hosts = yaml.safe_load(lab.inventory.read_text())
    for host in hosts["all"]["hosts"].values():
        host |= {kind: dict(environment) for kind in ("kafka_environment", "zookeeper_environment")}
    (inventory / "hosts.yml").write_text(yaml.safe_dump(hosts))
    fleet = Fleet(lab, inventory, folder / "home")
    fleet.write(cluster)
    return fleet
