"""The path of every file of a node on its host."""

from __future__ import annotations

from dataclasses import dataclass

from kcluster.model.broker import Broker
from kcluster.model.ensemble import Server
from kcluster.model.node import Kind, Node
from kcluster.model.quorum import Controller
from kcluster.model.spark_cluster import SparkDaemon, SparkMaster, SparkWorker

UNITS = {
    Kind.ZOOKEEPER: "zookeeper",
    Kind.CONTROLLER: "kafka-controller",
    Kind.BROKER: "kafka",
    Kind.SPARK_MASTER: "spark-master",
    Kind.SPARK_WORKER: "spark-worker",
}
"""The systemd unit of each kind of node; the other files of the node are named after it."""

OWN = "0750"
"""The mode of directories that only the service user reads: data and logs."""

_CONFIGS = {
    Kind.ZOOKEEPER: "zookeeper.properties",
    Kind.CONTROLLER: "controller.properties",
    Kind.BROKER: "server.properties",
    Kind.SPARK_MASTER: "spark-master.properties",
    Kind.SPARK_WORKER: "spark-worker.properties",
}


@dataclass(frozen=True)
class Paths:
    """Where a node's files lie on its host."""

    config: str
    environment: str
    logging: str
    unit: str
    release: str
    """The link to the release that the unit starts; `current` beside it is what was installed last."""
    script: str
    """The script that units run to start a Kafka node; shared by the nodes of a host."""


def paths(node: Node, *, log4j2: bool) -> Paths:
    """Where a node's files lie on its host."""
    folder, unit = node.places.config_dir, UNITS[node.kind]
    return Paths(
        config=f"{folder}/{_CONFIGS[node.kind]}",
        environment=f"{folder}/{unit}.env",
        logging=f"{folder}/{unit}-{_logging(node, log4j2=log4j2)}",
        unit=f"/etc/systemd/system/{unit}.service",
        release=f"{node.places.install_dir}/current-{unit}",
        script=f"{node.places.install_dir}/start-node.sh",
    )


def _logging(node: Node, *, log4j2: bool) -> str:
    if isinstance(node, SparkDaemon):
        return "log4j2.properties"
    return "log4j2.yaml" if log4j2 else "log4j.properties"


def data_dirs(node: Node) -> tuple[str, ...]:
    """The directories a node keeps its data in."""
    if isinstance(node, Server):
        return (node.data_dir, node.log_dir) if node.log_dir else (node.data_dir,)
    if isinstance(node, Controller):
        return (node.data_dir,)
    if isinstance(node, SparkMaster):
        return ()  # with ZooKeeper it stores nothing; without, systemd creates the directory
    if isinstance(node, SparkWorker):
        return (node.work_dir,)
    assert isinstance(node, Broker)
    return node.data_dirs
