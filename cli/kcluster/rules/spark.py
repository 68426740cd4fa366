"""Rules about Spark on hosts."""

from __future__ import annotations

from collections.abc import Iterator

from kcluster.config.owned_properties import OWNED_SPARK_PROPERTIES
from kcluster.model.cluster import Cluster
from kcluster.model.finding import Finding, Location, warning
from kcluster.rules.property_sources import values_set


def both_groups(cluster: Cluster) -> Iterator[Finding]:
    """Masters without workers do nothing, and workers without masters find nobody."""
    if (engine := cluster.engine) is None:
        return
    for nodes, what, group in ((engine.masters, "master", "spark_master"), (engine.workers, "worker", "spark_worker")):
        if not nodes:
            yield Finding(
                f"Spark has no {what}: the group {group} is empty or missing",
                f"put hosts into the group {group}, or empty the other group of Spark as well",
                Location(group),
            )


def one_leads(cluster: Cluster) -> Iterator[Finding]:
    """Two masters that nobody brings together both think that they lead, and share out the same workers twice."""
    engine = cluster.engine
    if engine and len(engine.masters) > 1 and not engine.keepers:
        yield Finding(
            f"{len(engine.masters)} Spark masters need ZooKeeper to agree who leads, and this cluster has controllers",
            f"leave one host in the group spark_master, such as {engine.masters[0].host.name}; systemd restarts it",
            Location("spark_master"),
        )


def memory_beside_brokers(cluster: Cluster) -> Iterator[Finding]:
    """Without a limit a worker gives executors nearly all memory, also the broker's and that of its page cache."""
    brokers = {broker.host for broker in cluster.brokers}
    for worker in cluster.engine.workers if cluster.engine else ():
        if worker.host in brokers and not worker.memory:
            yield warning(
                f"the Spark worker on {worker.host.name} may take all memory but 1 GiB, and a broker runs there too",
                "write spark_worker_memory, and spark_worker_cores",
                Location(worker.host.name, "spark_worker_memory"),
            )


def proven(cluster: Cluster) -> Iterator[Finding]:
    """Without a secret, whoever reaches a master runs programs on the workers."""
    if cluster.engine and not cluster.engine.secret and not cluster.local:
        yield warning(
            "whoever reaches a Spark master may run programs on the workers: there is no spark_secret",
            "write a spark_secret, vaulted: ansible-vault encrypt_string; or let only trusted hosts reach the port",
            Location("spark_master"),
        )


def owned(cluster: Cluster) -> Iterator[Finding]:
    """What kcluster decides cannot be set by hand: who leads, and the secret, which jobs must know as well."""
    for key, word in OWNED_SPARK_PROPERTIES.items():
        for _, spot in values_set(cluster.engine.nodes if cluster.engine else (), key):
            yield Finding(
                f"{key} in spark_config is written by kcluster and cannot be set by hand",
                f"remove it; it follows from {word}",
                spot,
            )


RULES = (both_groups, one_leads, memory_beside_brokers, proven, owned)
