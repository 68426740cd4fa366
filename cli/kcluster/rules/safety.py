"""Rules about availability and durability: an odd metadata quorum, session timeouts, snapshots, unsafe settings."""

from __future__ import annotations

from collections.abc import Iterator

from kcluster.config import defaults
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Ensemble
from kcluster.model.finding import WHO, Finding, Location, Severity, warning
from kcluster.model.node import Kind
from kcluster.results import counted
from kcluster.rules.property_sources import location_of, values_set

_HEAP_VARIABLES = {
    Kind.ZOOKEEPER: "zookeeper_heap",
    Kind.BROKER: "kafka_heap",
    Kind.CONTROLLER: "kafka_controller_heap",
}

_JMX_OPTIONS = " ".join(
    f"-Dcom.sun.management.jmxremote.{option}"
    for option in ("port={}", "host=127.0.0.1", "ssl=false", "password.file=FILE")
)
"""JMX for programs on the host that know a password; the service user owns the file, with mode 0400."""


def odd_metadata_quorum(cluster: Cluster) -> Iterator[Finding]:
    """The number of ZooKeeper servers or controllers is odd; a single one tolerates no failure."""
    nodes = cluster.metadata.nodes
    noun, group = ("ZooKeeper server", "zookeeper") if _zookeeper(cluster) else ("controller", "kafka_controller")
    if len(nodes) % 2 == 0:
        yield Finding(
            f"{counted(len(nodes), noun)} tolerate {counted(cluster.metadata.tolerates, 'failure')}, "
            f"as many as {len(nodes) - 1}",
            f"put {len(nodes) - 1} or {len(nodes) + 1} hosts into the group {group}",
            Location(group),
        )
    elif len(nodes) == 1 and not cluster.local:
        yield warning(
            f"1 {noun} tolerates 0 failures: the cluster stops when it fails",
            f"put 3 hosts into the group {group}",
            Location(group),
        )


def valid_chroot(cluster: Cluster) -> Iterator[Finding]:
    """The chroot is one absolute path without a slash at the end; `zookeeper.connect` ends with it."""
    path = cluster.metadata.chroot if isinstance(cluster.metadata, Ensemble) else ""
    if path and (not path.startswith("/") or path.endswith("/") or "//" in path or "," in path):
        yield Finding(
            f"zookeeper_chroot is {path!r}, not one absolute path without a slash at the end",
            "use a path such as /kafka",
            Location(variable="zookeeper_chroot"),
        )


def no_unsafe_settings(cluster: Cluster) -> Iterator[Finding]:
    """No broker property that Kafka accepts risks acknowledged records, or creates topics by mistake."""
    for value, spot in values_set(cluster.brokers, "unclean.leader.election.enable"):
        if value.lower() == "true":
            yield warning(
                "unclean.leader.election.enable=true can lose acknowledged records",
                "set it to false, or remove it",
                spot,
            )
    for value, spot in values_set(cluster.brokers, "auto.create.topics.enable"):
        if value.lower() == "true":
            yield warning(
                "auto.create.topics.enable=true creates a topic for every misspelt name",
                "remove it, and declare topics in kafka_topics",
                spot,
            )
    for value, spot in values_set(cluster.brokers, "min.insync.replicas"):
        if value == "1" and len(cluster.brokers) > 1:
            yield warning(
                "min.insync.replicas=1 acknowledges records that exist on 1 broker only",
                f"set it to {max(2, defaults.min_insync_replicas(len(cluster.brokers)))}, or remove it",
                spot,
            )


def session_timeout_within_limits(cluster: Cluster) -> Iterator[Finding]:
    """The session timeout is at least 2 ticks; ZooKeeper silently uses its limit for any other."""
    if not _zookeeper(cluster):
        return
    server = cluster.metadata.nodes[0]
    key = "zookeeper.session.timeout.ms"
    standard = {
        each.key: each.value for kind in (Kind.BROKER, Kind.ZOOKEEPER) for each in defaults.for_kind(cluster, kind)
    }
    of_servers = {**standard, **server.set_by_hand()}
    tick, most = of_servers["tickTime"], of_servers["maxSessionTimeout"]
    if not tick.isdecimal():
        return
    least = of_servers.get("minSessionTimeout", str(2 * int(tick)))
    for value, spot in list(values_set(cluster.brokers, key)) or [
        (standard[key], location_of(server, "tickTime") or Location())
    ]:
        if all(map(str.isdecimal, (value, least, most))) and not int(least) <= int(value) <= int(most):
            yield warning(
                f"{key}={value} is outside {least} to {most} ms; ZooKeeper silently uses its limit instead",
                f"set a value from {least} to {most}, or change tickTime or maxSessionTimeout in zookeeper_config",
                spot,
            )


def snapshots_purged(cluster: Cluster) -> Iterator[Finding]:
    """ZooKeeper purges old snapshots; otherwise they fill the disk and the ensemble stops."""
    for value, spot in values_set(cluster.metadata.nodes, "autopurge.purgeInterval") if _zookeeper(cluster) else ():
        if value == "0":
            yield warning(
                "autopurge.purgeInterval=0 keeps every snapshot until the disk is full",
                "set it to 1, or remove it",
                spot,
            )


def jmx_port_not_in_environment(cluster: Cluster) -> Iterator[Finding]:
    """JMX_PORT is not in the environment: Kafka's scripts open it without authentication, on every address."""
    seen: set[tuple[Kind, str]] = set()
    for node in cluster.nodes:
        port = node.environment.get("JMX_PORT")
        if port and (node.kind, port) not in seen:
            seen.add((node.kind, port))
            variable = "zookeeper_environment" if node.kind is Kind.ZOOKEEPER else "kafka_environment"
            yield warning(
                f"JMX_PORT={port} in {variable} opens port {port} on every address without authentication: "
                "who reaches it can run code as the service user",
                f"remove it, and add to KAFKA_OPTS: {_JMX_OPTIONS.format(port)}",
                Location(node.host.name, variable, "JMX_PORT"),
            )


def _zookeeper(cluster: Cluster) -> bool:
    return isinstance(cluster.metadata, Ensemble)


def heap_set_once(cluster: Cluster) -> Iterator[Finding]:
    """The heap is set by its variable only: KAFKA_HEAP_OPTS would silently override it."""
    for node in cluster.nodes:
        if "KAFKA_HEAP_OPTS" in node.environment:
            variable = "zookeeper_environment" if node.kind is Kind.ZOOKEEPER else "kafka_environment"
            yield Finding(
                f"KAFKA_HEAP_OPTS in {variable} of {WHO} overrides {_HEAP_VARIABLES[node.kind]}",
                f"set {_HEAP_VARIABLES[node.kind]}: {node.heap} instead",
                Location(node.host.name, variable, "KAFKA_HEAP_OPTS"),
                Severity.WARNING,
                node.host.name,
            )


RULES = (
    odd_metadata_quorum,
    valid_chroot,
    no_unsafe_settings,
    session_timeout_within_limits,
    snapshots_purged,
    jmx_port_not_in_environment,
    heap_set_once,
)
