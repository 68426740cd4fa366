"""Rules about the Spark cluster of an inventory."""

from __future__ import annotations

from collections.abc import Iterator

from kcluster.config.owned_properties import OWNED_SPARK_PROPERTIES
from kcluster.model.cluster import Cluster
from kcluster.model.finding import Finding, Location, warning
from kcluster.results import counted
from kcluster.rules.property_sources import values_set


def spark_groups_complete(cluster: Cluster) -> Iterator[Finding]:
    """Spark has at least one master and one worker."""
    if (engine := cluster.engine) is None:
        return
    groups = {"spark_master": engine.masters, "spark_worker": engine.workers}
    for group, other in zip(groups, reversed(groups), strict=True):
        if not groups[group]:
            yield Finding(
                f"group {group} is empty or missing, but {other} has {counted(len(groups[other]), 'host')}",
                f"put hosts into the group {group}, or empty the group {other}",
                Location(group),
            )


def spark_masters_elect_leader(cluster: Cluster) -> Iterator[Finding]:
    """Several masters have ZooKeeper for their leader election; without it each would lead and use the same workers."""
    engine = cluster.engine
    if engine and len(engine.masters) > 1 and not engine.keepers:
        yield Finding(
            f"{len(engine.masters)} Spark masters need ZooKeeper to elect a leader, but this cluster has controllers",
            f"keep 1 host in the group spark_master, such as {engine.masters[0].host.name}; systemd restarts it",
            Location("spark_master"),
        )


def worker_memory_limited_beside_brokers(cluster: Cluster) -> Iterator[Finding]:
    """A worker on a broker's host has a memory limit: executors would take the broker's memory and page cache."""
    brokers = {broker.host for broker in cluster.brokers}
    for worker in cluster.engine.workers if cluster.engine else ():
        if worker.host in brokers and not worker.memory:
            yield warning(
                f"spark_worker_memory is not set on {worker.host.name}, where a broker runs too: "
                "executors may use all memory but 1 GiB",
                "set spark_worker_memory and spark_worker_cores",
                Location(worker.host.name, "spark_worker_memory"),
            )


def spark_secret_set(cluster: Cluster) -> Iterator[Finding]:
    """Spark has a secret: without it, anyone who reaches a master can run programs on the workers."""
    if cluster.engine and not cluster.engine.secret and not cluster.local:
        yield warning(
            "spark_secret is not set: anyone who reaches a Spark master can run programs on the workers",
            "set spark_secret, encrypted with ansible-vault encrypt_string, or restrict access to the port",
            Location("spark_master"),
        )


def no_owned_spark_properties(cluster: Cluster) -> Iterator[Finding]:
    """No property that kcluster writes itself is set by hand: leader election, and the secret that jobs need too."""
    for key, variable in OWNED_SPARK_PROPERTIES.items():
        for _, spot in values_set(cluster.engine.nodes if cluster.engine else (), key):
            yield Finding(
                f"{key} in spark_config: kcluster writes this property itself",
                f"remove it; it is derived from {variable}",
                spot,
            )


RULES = (
    spark_groups_complete,
    spark_masters_elect_leader,
    worker_memory_limited_beside_brokers,
    spark_secret_set,
    no_owned_spark_properties,
)
