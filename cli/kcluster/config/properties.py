"""The properties of one node: what kcluster owns, its defaults, and what people set over them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

from kcluster.config import defaults, spark_variables
from kcluster.config.owned_properties import variable_for
from kcluster.config.setting import Setting
from kcluster.model.broker import Broker
from kcluster.model.cluster import Cluster, Part
from kcluster.model.ensemble import Ensemble, Server
from kcluster.model.listener import Listener
from kcluster.model.node import Layer, Node
from kcluster.model.quorum import Controller, Quorum
from kcluster.model.spark_cluster import SparkCluster, SparkDaemon

CONTROLLER_LISTENER = "CONTROLLER"
_AT_HOME = "a cluster on this machine is not for the network"


def settings(part: Part, node: Node) -> tuple[Setting, ...]:
    """Every property of one node with its origin: owned first, then the defaults in their order, then what is left."""
    if isinstance(node, SparkDaemon):
        assert isinstance(part, SparkCluster)
        return spark_variables.settings(part, node)
    assert isinstance(part, Cluster)
    return _of_kafka(part, node)


def _of_kafka(cluster: Cluster, node: Node) -> tuple[Setting, ...]:
    chosen = {d.key: Setting(d.key, d.value, "default", d.why) for d in defaults.for_kind(cluster, node.kind)}
    for layer in _layers(cluster, node):
        for key, value in sorted(layer.properties.items()):
            chosen[key] = Setting(key, value, layer.source)
    owned = {setting.key: setting for setting in _owned(cluster, node)}
    return (
        *owned.values(),
        *(setting for key, setting in chosen.items() if key not in owned and not variable_for(key)),
    )


def _layers(cluster: Cluster, node: Node) -> tuple[Layer, ...]:
    return (*_from_brokers(cluster), *node.layers) if isinstance(node, Controller) else node.layers


def _from_brokers(cluster: Cluster) -> Iterator[Layer]:
    """The brokers' settings that controllers need too, as far as all brokers agree on them."""
    wanted = defaults.SHARED_WITH_CONTROLLERS
    by_hand = [broker.set_by_hand() for broker in cluster.brokers]
    for layer in cluster.brokers[0].layers if cluster.brokers else ():
        agreed = {
            key: v for key, v in layer.properties.items() if key in wanted and all(b.get(key) == v for b in by_hand)
        }
        yield replace(layer, properties=agreed)


def _owned(cluster: Cluster, node: Node) -> Iterator[Setting]:
    if isinstance(node, Server):
        assert isinstance(cluster.metadata, Ensemble)
        return _server(cluster.metadata, node)
    if isinstance(node, Controller):
        assert isinstance(cluster.metadata, Quorum)
        return _controller(cluster.metadata, node)
    assert isinstance(node, Broker)
    return _broker(cluster, node)


def _own(key: str, value: str, why: str) -> Setting:
    return Setting(key, value, "kcluster", why)


def _server(ensemble: Ensemble, server: Server) -> Iterator[Setting]:
    yield _own("dataDir", server.data_dir, "snapshots and myid: zookeeper_data_dir")
    if server.log_dir:
        yield _own("dataLogDir", server.log_dir, "the transaction log, best on its own disk: zookeeper_log_dir")
    yield _own("clientPort", str(server.client_port), "where the brokers connect: zookeeper_client_port")
    if server.host.local:
        yield _own("clientPortAddress", server.host.address, _AT_HOME)
    for member in ensemble.servers:
        why = f"{member.host.name}, member {member.id} of the ensemble; the same list on every server"
        yield _own(f"server.{member.id}", member.line, why)


def _controller(quorum: Quorum, controller: Controller) -> Iterator[Setting]:
    yield _own("process.roles", "controller", "the host is in the group kafka_controller")
    yield _own("node.id", str(controller.id), "written in the inventory: kafka_controller_id")
    yield from _quorum(quorum)
    address, why = (controller.host.address, _AT_HOME) if controller.host.local else ("", "where the others connect")
    yield _own("listeners", f"{CONTROLLER_LISTENER}://{address}:{controller.port}", why)
    yield _own("listener.security.protocol.map", _protocols((), kraft=True), "the protocol of each listener")
    yield _own("log.dirs", controller.data_dir, "the log of the cluster's metadata")


def _broker(cluster: Cluster, broker: Broker) -> Iterator[Setting]:
    if isinstance(cluster.metadata, Quorum):
        yield _own("process.roles", "broker", "the host is in the group kafka_broker")
        yield _own("node.id", str(broker.id), "written in the inventory: kafka_broker_id")
        yield from _quorum(cluster.metadata)
    else:
        yield _own("broker.id", str(broker.id), "written in the inventory: kafka_broker_id")
        yield _own("zookeeper.connect", cluster.metadata.connect, "every server of the group zookeeper")
    yield from _listeners(broker, kraft=isinstance(cluster.metadata, Quorum))
    yield _own("log.dirs", ",".join(broker.data_dirs), "where records are kept: kafka_data_dirs")
    if broker.rack:
        yield _own("broker.rack", broker.rack, "copies of a partition go to different racks: kafka_rack")


def _quorum(quorum: Quorum) -> Iterator[Setting]:
    yield _own("controller.quorum.voters", quorum.voters, "every host of the group kafka_controller")
    yield _own("controller.listener.names", CONTROLLER_LISTENER, "the listener of the controllers")


def _listeners(broker: Broker, *, kraft: bool) -> Iterator[Setting]:
    bound = ",".join(listener.bind for listener in broker.listeners)
    advertised = ",".join(listener.advertised for listener in broker.listeners)
    yield _own("listeners", bound, "where the broker listens: kafka_listeners")
    yield _own("advertised.listeners", advertised, "the addresses clients are told to use: kafka_listeners")
    yield _own(
        "listener.security.protocol.map", _protocols(broker.listeners, kraft=kraft), "the protocol of each listener"
    )
    yield _own("inter.broker.listener.name", broker.internal.label, "what brokers use among themselves")


def _protocols(listeners: tuple[Listener, ...], *, kraft: bool) -> str:
    pairs = [f"{listener.label}:{listener.protocol}" for listener in listeners]
    return ",".join(pairs + ([f"{CONTROLLER_LISTENER}:PLAINTEXT"] if kraft else []))
