"""Rules about what survives: majorities, sessions, snapshots, and settings that people regret."""

from __future__ import annotations

from collections.abc import Iterator

from kcluster.config import defaults
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Ensemble
from kcluster.model.finding import WHO, Finding, Location, Severity, warning
from kcluster.model.node import Kind
from kcluster.rules.property_sources import location_of, values_set

_HEAP_WORDS = {
    Kind.ZOOKEEPER: "zookeeper_heap",
    Kind.BROKER: "kafka_heap",
    Kind.CONTROLLER: "kafka_controller_heap",
}


def majority(cluster: Cluster) -> Iterator[Finding]:
    """An odd number of keepers: an even one tolerates no more failures, and a single one none."""
    nodes = cluster.metadata.nodes
    what, group = ("ZooKeeper server", "zookeeper") if _zookeeper(cluster) else ("controller", "kafka_controller")
    if len(nodes) % 2 == 0:
        yield Finding(
            f"{len(nodes)} {what}s tolerate {_failures(cluster.metadata.tolerates)}, as {len(nodes) - 1} would",
            f"make it {len(nodes) + 1} or {len(nodes) - 1} hosts in the group {group}",
            Location(group),
        )
    elif len(nodes) == 1 and not cluster.local:
        yield warning(
            f"only one {what}: the cluster stops when it does", f"put 3 hosts into the group {group}", Location(group)
        )


def chroot(cluster: Cluster) -> Iterator[Finding]:
    """A chroot is one path that begins with a slash, and it stands once at the end of `zookeeper.connect`."""
    path = cluster.metadata.chroot if isinstance(cluster.metadata, Ensemble) else ""
    if path and (not path.startswith("/") or path.endswith("/") or "//" in path or "," in path):
        yield Finding(
            f"{path!r} is not a chroot", "write one path such as /kafka", Location(variable="zookeeper_chroot")
        )


def dangerous_settings(cluster: Cluster) -> Iterator[Finding]:
    """Settings that are allowed, and that people regret."""
    for value, spot in values_set(cluster.brokers, "unclean.leader.election.enable"):
        if value.lower() == "true":
            yield warning(
                "unclean.leader.election.enable=true throws acknowledged records away",
                "write false, or leave it out",
                spot,
            )
    for value, spot in values_set(cluster.brokers, "auto.create.topics.enable"):
        if value.lower() == "true":
            yield warning(
                "auto.create.topics.enable=true makes a topic of every misspelt name",
                "leave it out, and declare topics in kafka_topics",
                spot,
            )
    for value, spot in values_set(cluster.brokers, "min.insync.replicas"):
        if value == "1" and len(cluster.brokers) > 1:
            yield warning(
                "min.insync.replicas=1 acknowledges records that only one broker has",
                f"write {max(2, defaults.min_insync_replicas(len(cluster.brokers)))}, or leave it out",
                spot,
            )


def sessions(cluster: Cluster) -> Iterator[Finding]:
    """ZooKeeper allows sessions of 2 to 20 ticks and silently clamps what is asked beyond."""
    if not _zookeeper(cluster):
        return
    server = cluster.metadata.nodes[0]
    key, by_hand = "zookeeper.session.timeout.ms", server.set_by_hand()
    tick = by_hand.get("tickTime", "2000")
    if not tick.isdecimal():
        return
    least = by_hand.get("minSessionTimeout", str(2 * int(tick)))
    most = by_hand.get("maxSessionTimeout", str(20 * int(tick)))
    for value, spot in list(values_set(cluster.brokers, key)) or [
        ("18000", location_of(server, "tickTime") or Location())
    ]:
        if all(map(str.isdecimal, (value, least, most))) and not int(least) <= int(value) <= int(most):
            yield warning(
                f"{key}={value} is outside {least} to {most} ms; ZooKeeper silently uses its own limit instead",
                f"write a value from {least} to {most}, or change tickTime ({tick} ms; sessions last 2 to 20 ticks)",
                spot,
            )


def autopurge(cluster: Cluster) -> Iterator[Finding]:
    """Without purging, the snapshots fill the disk and the ensemble dies."""
    for value, spot in values_set(cluster.metadata.nodes, "autopurge.purgeInterval") if _zookeeper(cluster) else ():
        if value == "0":
            yield warning(
                "autopurge.purgeInterval=0 keeps every snapshot until the disk is full",
                "write 1, or leave it out",
                spot,
            )


def jmx_port(cluster: Cluster) -> Iterator[Finding]:
    """The command line tools inherit JMX_PORT and die on the port that the broker holds."""
    seen: set[tuple[Kind, str]] = set()
    for node in cluster.nodes:
        port = node.environment.get("JMX_PORT")
        if port and (node.kind, port) not in seen:
            seen.add((node.kind, port))
            word = "zookeeper_environment" if node.kind is Kind.ZOOKEEPER else "kafka_environment"
            yield warning(
                f"JMX_PORT={port} in {word} breaks the tools that are run with the same environment",
                f"set -Dcom.sun.management.jmxremote.port={port} in KAFKA_OPTS instead",
                Location(node.host.name, word, "JMX_PORT"),
            )


def _failures(count: int) -> str:
    return {0: "no failure", 1: "1 failure"}.get(count, f"{count} failures")


def _zookeeper(cluster: Cluster) -> bool:
    return isinstance(cluster.metadata, Ensemble)


def heap_options(cluster: Cluster) -> Iterator[Finding]:
    """The heap is said once: KAFKA_HEAP_OPTS would silently win over the word for it."""
    for node in cluster.nodes:
        if "KAFKA_HEAP_OPTS" in node.environment:
            word = "zookeeper_environment" if node.kind is Kind.ZOOKEEPER else "kafka_environment"
            yield Finding(
                f"KAFKA_HEAP_OPTS in {word} of {WHO} hides the heap of the inventory",
                f"write {_HEAP_WORDS[node.kind]}: {node.heap} instead",
                Location(node.host.name, word, "KAFKA_HEAP_OPTS"),
                Severity.WARNING,
                node.host.name,
            )


RULES = (majority, chroot, dangerous_settings, sessions, autopurge, jmx_port, heap_options)
