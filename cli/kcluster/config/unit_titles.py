"""The Description of a systemd unit, which names the cluster that owns it."""

from __future__ import annotations

import re

from kcluster.model.node import Kind, Node
from kcluster.model.spark_cluster import SparkDaemon

_KIND_TITLES = {
    Kind.ZOOKEEPER: "ZooKeeper server",
    Kind.CONTROLLER: "Kafka controller",
    Kind.BROKER: "Kafka broker",
    Kind.SPARK_MASTER: "Spark master",
    Kind.SPARK_WORKER: "Spark worker",
}


def title(node: Node, cluster: str) -> str:
    """The Description of a node's unit: "Kafka broker 1 of staging", "Spark worker on h1 of staging"."""
    which = f"on {node.host.name}" if isinstance(node, SparkDaemon) else str(node.id)
    return f"{_KIND_TITLES[node.kind]} {which} of {cluster}"


def of_another(cluster: str) -> str:
    """A regular expression for the Description of another cluster's unit; group 1 is that cluster's name.

    A unit without such a line was not written by kcluster and has no owner.
    """
    return rf"(?m)^Description=(?:{'|'.join(_KIND_TITLES.values())}) .+ of (?!{re.escape(cluster)}$)(\S+)$"


def other_owner(unit: str, cluster: str) -> str:
    """The name of the other cluster that owns this unit text; empty when this cluster does, or none."""
    found = re.search(of_another(cluster), unit)
    return found[1] if found else ""
