"""A cluster, and hosts as they would be seen: bare, or running exactly as the inventory says."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

from kcluster import plan as planning
from kcluster import render
from kcluster.config.file_paths import data_dirs
from kcluster.model.broker import Broker
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Ensemble, Server
from kcluster.model.host import Host
from kcluster.model.listener import Listener
from kcluster.model.node import Layer, Node
from kcluster.model.observed import (
    ObservedDirectory,
    ObservedFile,
    ObservedHost,
    ObservedNode,
    ObservedUnit,
    Preparation,
)
from kcluster.model.quorum import Controller, Quorum
from kcluster.model.release import Release
from kcluster.plan import Plan, Roles
from kcluster.results import Cell

HOSTS = tuple(Host(f"h{number}", f"10.0.0.{number}") for number in (1, 2, 3))
ID, OTHER = "PbWmCmMSSbSvDeFTl9mVrA", "AbWmCmMSSbSvDeFTl9mVrA"


def broker(host: Host, **given: Any) -> Broker:
    number = int(host.name[1:])
    listener = Listener(name="internal", port=9092, advertised_host=host.address, advertised_port=9092)
    return Broker(**{"host": host, "id": number, "listeners": (listener,), **given})


SERVERS = tuple(Server(host=host, id=number) for number, host in enumerate(HOSTS, 1))
CONTROLLERS = tuple(Controller(host=host, id=3000 + number) for number, host in enumerate(HOSTS, 1))
BROKERS = tuple(broker(host) for host in HOSTS)
KERNEL = ("kernel vm.swappiness", "60", "1")
OLD = Cluster("demo", Release("3.9.2"), Ensemble(SERVERS), BROKERS)
NEW = Cluster("demo", Release("4.2.0"), Quorum(CONTROLLERS, ID), BROKERS)


def changed(cluster: Cluster, **config: str) -> Cluster:
    """The same cluster with other properties on its brokers."""
    layer = Layer("cluster", {key.replace("_", "."): value for key, value in config.items()})
    return replace(cluster, brokers=tuple(replace(one, layers=(layer,)) for one in cluster.brokers))


def with_environment(cluster: Cluster, **environment: str) -> Cluster:
    return replace(cluster, brokers=tuple(replace(one, environment=environment) for one in cluster.brokers))


def meta(cluster: Cluster, node: Node, cluster_id: str = ID) -> Mapping[str, str]:
    if isinstance(node, Server):
        return {}
    kraft = isinstance(cluster.metadata, Quorum)
    number = {"version": "1", "node.id": str(node.id)} if kraft else {"version": "0", "broker.id": str(node.id)}
    return {**number, "cluster.id": cluster_id}


def directory(cluster: Cluster, node: Node, **given: Any) -> ObservedDirectory:
    plain = ObservedDirectory("kafka:kafka 0750", "/", "ext4", 10**10, 10**11, empty=False, meta=meta(cluster, node))
    return replace(plain, **({"myid": str(node.id)} if isinstance(node, Server) else {}) | given)


def node_seen(cluster: Cluster, node: Node) -> ObservedNode:
    """A node that runs exactly as the inventory says."""
    files = render.files(cluster, node, reveal=True)
    return ObservedNode(
        ObservedUnit("active", enabled=True, pid=100),
        files={
            file.path: ObservedFile(file.text, f"root:{'kafka' if file.mode == '0640' else 'root'} {file.mode}")
            for file in files
        },
        started_with={
            file.path: file.text for file in files if file.role not in (render.Role.MYID, render.Role.SCRIPT)
        },
        started_release=cluster.release.directory,
        link=cluster.release.directory,
        directories={path: directory(cluster, node) for path in data_dirs(node)},
    )


def running(cluster: Cluster) -> dict[str, ObservedHost]:
    """Hosts on which everything is as the inventory says."""
    release = cluster.release.directory
    return {
        host.name: ObservedHost(
            host.name,
            java="17.0.19",
            releases=(release,),
            current=release,
            nodes={node.name: node_seen(cluster, node) for node in cluster.on(host)},
        )
        for host in cluster.hosts
    }


def bare(cluster: Cluster) -> dict[str, ObservedHost]:
    preparation = Preparation(
        changes=(("group kafka", "", ""), ("directory /opt/kafka", "", "root:root 0755"), KERNEL),
        files=(("/etc/sysctl.d/60-kcluster-kafka.conf", False),),
    )
    return {host.name: ObservedHost(host.name, java="17.0.19", preparation=preparation) for host in cluster.hosts}


def altered(seen: Mapping[str, ObservedHost], host: str, node: str, **given: Any) -> dict[str, ObservedHost]:
    """What was seen, with something else on one node."""
    nodes = {**seen[host].nodes, node: replace(seen[host].nodes[node], **given)}
    return {**seen, host: replace(seen[host], nodes=nodes)}


def disks(cluster: Cluster, node: Node, **given: Any) -> dict[str, ObservedDirectory]:
    return {path: directory(cluster, node, **given) for path in data_dirs(node)}


def plan(cluster: Cluster, seen: Mapping[str, ObservedHost], roles: Roles | None = None) -> Plan:
    return planning.plan(cluster, seen, roles or Roles())


def reasons(found: Plan) -> dict[str, str]:
    return {restart.node: "; ".join(restart.reasons) for restart in found.restarts}


def text_of(found: Plan) -> str:
    return "\n".join(block.text if isinstance(block, Cell) else str(block) for block in found.view())
