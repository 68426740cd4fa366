"""A large inventory, plain and full of templates: its limits in seconds, and that growth is no more than linear."""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
from pathlib import Path

from tests.bench.timing import seconds

TEMPLATES = """
all:
  vars: {domain: example.net, release: "3.9.2", kafka_version: "{{ release }}"}
  children:
    zookeeper: {hosts: {k1: {zookeeper_id: 1}, k2: {zookeeper_id: 2}, k3: {zookeeper_id: 3}}}
    kafka_broker:
      vars:
        kafka_rack: "rack-{{ kafka_broker_id | int % 3 }}"
        kafka_config: {log.retention.hours: "{{ 24 * 7 }}", num.partitions: "{{ groups['zookeeper'] | length }}"}
      hosts:
"""


def run() -> list[tuple[str, float, float, float]]:
    """300 brokers against their limits, and ten times the brokers against ten times the time."""
    with tempfile.TemporaryDirectory() as folder:
        small, large = (_validate_and_render(Path(folder), brokers) for brokers in (30, 300))
        templates = _validate_templates(Path(folder))
    return [
        ("validate, 300 brokers with 5 templates each, cold / 1.5 s", templates, 1.5, 1.0),
        ("validate + render, 300 brokers / 5 s", large, 5.0, 1.0),
        ("validate + render, 300 brokers / 10 x 30 brokers", large, 10 * small, 1.0),
    ]


def _validate_and_render(folder: Path, brokers: int) -> float:
    inventory = folder / f"inventory-{brokers}"
    hosts = ",".join(f"k{number}.example" for number in range(1, brokers + 1))
    kcluster = str(Path(sys.executable).with_name("kcluster"))
    subprocess.run(
        [kcluster, "init", str(inventory), "--brokers", str(brokers), "--hosts", hosts],
        check=True,
        stdout=subprocess.DEVNULL,
    )
    env = {**os.environ, "KCLUSTER_CACHE": str(folder / f"cache-{brokers}")}
    rendered = ["render", "-i", str(inventory), "--out", str(folder / f"out-{brokers}")]
    return seconds([kcluster, "validate", "-i", str(inventory)], env=env) + seconds([kcluster, *rendered], env=env)


def _validate_templates(folder: Path) -> float:
    inventory = folder / "templates.yml"
    hosts = "\n".join(
        f'        k{n}: {{kafka_broker_id: {n}, ansible_host: "{{{{ inventory_hostname }}}}.{{{{ domain }}}}"}}'
        for n in range(1, 301)
    )
    inventory.write_text(TEMPLATES + hosts)
    env = {**os.environ, "KCLUSTER_CACHE": str(folder / "cache-templates")}
    return seconds([str(Path(sys.executable).with_name("kcluster")), "validate", "-i", str(inventory)], env=env)
