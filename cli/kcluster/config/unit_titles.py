"""What a unit is described as on its host, and by that whose it is."""

from __future__ import annotations

import re

from kcluster.model.node import Kind, Node
from kcluster.model.spark_cluster import SparkDaemon

_WORDS = {
    Kind.ZOOKEEPER: "ZooKeeper server",
    Kind.CONTROLLER: "Kafka controller",
    Kind.BROKER: "Kafka broker",
    Kind.SPARK_MASTER: "Spark master",
    Kind.SPARK_WORKER: "Spark worker",
}


def title(node: Node, cluster: str) -> str:
    """A node as its unit describes it: "Kafka broker 1 of staging", "Spark worker on h1 of staging"."""
    which = f"on {node.host.name}" if isinstance(node, SparkDaemon) else str(node.id)
    return f"{_WORDS[node.kind]} {which} of {cluster}"


def of_another(cluster: str) -> str:
    """The pattern of the line by which a unit is another cluster's; its group is the name of that one.

    A unit without such a line was not written by kcluster, and says nothing about a cluster.
    """
    return rf"(?m)^Description=(?:{'|'.join(_WORDS.values())}) .+ of (?!{re.escape(cluster)}$)(\S+)$"


def other_owner(unit: str, cluster: str) -> str:
    """The name of the other cluster whose unit this text is; empty when it is ours, or says of none."""
    found = re.search(of_another(cluster), unit)
    return found[1] if found else ""
