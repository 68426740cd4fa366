"""The local layout of a cluster: 127.0.0.1, free ports, separate directories, a small heap."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import Any

from kcluster.model.broker import Broker
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Ensemble, Server
from kcluster.model.host import Host
from kcluster.model.node import Layer, Node
from kcluster.model.quorum import Controller, Quorum

ADDRESS = "127.0.0.1"
HEAP = "256m"
_UNSET_HEAP = Node.__dataclass_fields__["heap"].default

_ON_ONE_MACHINE = Layer(
    "kcluster up",
    {
        # Members of a group are few here, and each first read of a group would wait these 3 s for more of them.
        "group.initial.rebalance.delay.ms": "0",
    },
)
_WITH_ZOOKEEPER = Layer(
    "kcluster up",
    {
        # When all brokers stop together, the last ones cannot move their leaders; the default retry after 5 s
        # only slows `down`.
        "controlled.shutdown.retry.backoff.ms": "200",
        # A killed broker stays registered, and its next start is refused, until its session expires.
        "zookeeper.session.timeout.ms": "10000",
    },
)
"""Both are defaults for one machine; the inventory overrides them."""


@dataclass(frozen=True)
class Placement:
    """The directory, ports and release chosen for a local cluster."""

    root: Path
    ports: Mapping[str, int]
    release_home: str = ""


def configured_ports(cluster: Cluster) -> dict[str, int]:
    """The configured ports by purpose ("broker-1 internal"), brokers first."""
    configured: dict[str, int] = {}
    for node in (*cluster.brokers, *cluster.metadata.nodes):
        configured |= {f"{node.name} {purpose}": port for purpose, port in ports_of(node)}
    return configured


def ports_of(node: Node) -> Iterator[tuple[str, int]]:
    """The ports a node listens on, by purpose."""
    if isinstance(node, Broker):
        yield from ((listener.name, listener.port) for listener in node.listeners)
    if isinstance(node, Server):
        yield from (("client", node.client_port), ("peer", node.peer_port), ("election", node.election_port))
    if isinstance(node, Controller):
        yield "controller", node.port


def choose_ports(configured: Mapping[str, int], kept: Mapping[str, int], free: Callable[[int], bool]) -> dict[str, int]:
    """For each purpose the port it had, else the first free one from the configured port on."""
    chosen = {purpose: kept[purpose] for purpose in configured if purpose in kept}
    for purpose, port in configured.items():
        if purpose not in chosen:
            used = {*chosen.values(), *kept.values()}
            chosen[purpose] = next(number for number in range(port, 65536) if number not in used and free(number))
    return chosen


def place(cluster: Cluster, placement: Placement) -> Cluster:
    """The cluster with local addresses, ports, directories and heaps."""
    metadata = cluster.metadata
    if isinstance(metadata, Ensemble):
        placed: Ensemble | Quorum = replace(metadata, servers=tuple(_server(s, placement) for s in metadata.servers))
    else:
        placed = replace(metadata, controllers=tuple(_controller(c, placement) for c in metadata.controllers))
    below = (_ON_ONE_MACHINE, *((_WITH_ZOOKEEPER,) if isinstance(metadata, Ensemble) else ()))
    return replace(cluster, metadata=placed, brokers=tuple(_broker(b, placement, below) for b in cluster.brokers))


def folder(root: Path, node: str) -> Path:
    """The directory of a node, with etc/, data/ and logs/."""
    return root / "nodes" / node


def _server(server: Server, placement: Placement) -> Server:
    home = folder(placement.root, server.name)
    return replace(
        server,
        **_common(server, placement),
        client_port=placement.ports[f"{server.name} client"],
        peer_port=placement.ports[f"{server.name} peer"],
        election_port=placement.ports[f"{server.name} election"],
        data_dir=str(home / "data"),
        log_dir=str(home / "data-log") if server.log_dir else "",
    )


def _controller(controller: Controller, placement: Placement) -> Controller:
    return replace(
        controller,
        **_common(controller, placement),
        port=placement.ports[f"{controller.name} controller"],
        data_dir=str(folder(placement.root, controller.name) / "data"),
    )


def _broker(broker: Broker, placement: Placement, below: tuple[Layer, ...]) -> Broker:
    home = folder(placement.root, broker.name)
    several = len(broker.data_dirs) > 1
    listeners = []
    for listener in broker.listeners:
        port = placement.ports[f"{broker.name} {listener.name}"]
        listeners.append(replace(listener, host=ADDRESS, port=port, advertised_host=ADDRESS, advertised_port=port))
    return replace(
        broker,
        **_common(broker, placement),
        layers=(*below, *broker.layers),
        listeners=tuple(listeners),
        data_dirs=tuple(
            str(home / (f"data-{number}" if several else "data")) for number in range(1, len(broker.data_dirs) + 1)
        ),
    )


def _common(node: Node, placement: Placement) -> dict[str, Any]:
    """The local fields that every kind of node has."""
    home = folder(placement.root, node.name)
    places = replace(
        node.places,
        install_dir=placement.release_home or node.places.install_dir,
        config_dir=str(home / "etc"),
        log_dir=str(home / "logs"),
    )
    return {
        "host": Host(node.host.name, ADDRESS, local=True),
        "heap": HEAP if node.heap == _UNSET_HEAP else node.heap,
        "places": places,
    }
