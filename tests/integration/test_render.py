"""The real release reads the rendered files: Kafka checks its whole configuration when asked about its storage."""

from __future__ import annotations

import os
import shlex
import subprocess
from dataclasses import replace
from pathlib import Path

import pytest

from kcluster import inventory, render, show
from kcluster.model.broker import Broker
from kcluster.model.cluster import Cluster
from kcluster.model.node import Layer, Node, Places
from kcluster.releases.fetch import fetch
from kcluster.render import Role

ODD = "RULE:^CN=(\\w+), O=Zürich.*$/$1/L"

CASES = [
    ("zookeeper-3x3", "broker1"),
    ("several-listeners", "broker2"),
    ("levels-add-up", "broker1"),
    ("kraft-3.9", "broker1"),
    ("kraft-3.9", "controller1"),
    ("kraft-4.2", "broker1"),
    ("kraft-4.2", "controller1"),
]


def ask(cluster: Cluster, node: Node, folder: Path) -> subprocess.CompletedProcess[str]:
    """Put a node's files below a folder and ask `kafka-storage.sh info` about them, in the node's own environment."""
    moved = replace(node, places=Places(config_dir=str(folder), log_dir=str(folder)))
    files = {file.role: file for file in render.files(cluster, moved, reveal=True)}
    for role in (Role.CONFIG, Role.LOGGING, Role.ENVIRONMENT):
        Path(files[role].path).write_text(files[role].text)
    spoken = shlex.split(files[Role.ENVIRONMENT].text, comments=True)
    own = {"KAFKA_HEAP_OPTS": "-Xmx128m"}
    script = fetch(cluster.release, show.progress) / "bin" / "kafka-storage.sh"
    return subprocess.run(
        [str(script), "info", "-c", files[Role.CONFIG].path],
        env=dict(os.environ) | dict(line.split("=", 1) for line in spoken) | own,
        capture_output=True,
        text=True,
        check=False,
    )


def golden(project: Path, case: str, host: str) -> tuple[Cluster, Node]:
    cluster = inventory.read(project / "tests" / "golden" / case / "inventory.yml")
    return cluster, cluster.find(host)[0]


@pytest.mark.parametrize(("case", "host"), CASES)
def test_kafka_accepts_the_rendered_files(project: Path, tmp_path: Path, case: str, host: str) -> None:
    cluster, node = golden(project, case, host)
    answer = ask(cluster, node, tmp_path)
    # Valid: all it has to say is that this machine has no such directory, which is true.
    assert "Found problem:" in answer.stdout, answer.stdout + answer.stderr
    assert "does not exist" in answer.stdout
    assert "Exception" not in answer.stdout + answer.stderr
    main = tmp_path / ("kafka-controller.log" if host.startswith("controller") else "server.log")
    assert "KafkaConfig values" in main.read_text()


def test_kafka_reads_back_what_was_meant(project: Path, tmp_path: Path) -> None:
    cluster, node = golden(project, "zookeeper-3x3", "broker1")
    odd = replace(node, layers=(Layer("host broker1", {"ssl.principal.mapping.rules": ODD}),))
    ask(cluster, odd, tmp_path)
    assert f"ssl.principal.mapping.rules = {ODD}\n" in (tmp_path / "server.log").read_text()


def test_kafka_says_no_to_a_wrong_file(project: Path, tmp_path: Path) -> None:
    cluster, node = golden(project, "zookeeper-3x3", "broker1")
    assert isinstance(node, Broker)
    nowhere = replace(node, listeners=(replace(node.listeners[0], advertised_host="0.0.0.0"),))
    answer = ask(cluster, nowhere, tmp_path)
    assert "advertised.listeners cannot use the nonroutable meta-address 0.0.0.0" in answer.stdout + answer.stderr
