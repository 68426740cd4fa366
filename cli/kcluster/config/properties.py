"""The properties of one node: those kcluster writes itself, its defaults, and those of the inventory."""

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
_LOCAL_ONLY = "a local cluster is not reachable from the network"


def settings(part: Part, node: Node) -> tuple[Setting, ...]:
    """Every property of one node with its origin: owned ones, then defaults in their order, then the inventory's."""
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
    found = owned | {key: each for key, each in chosen.items() if key not in owned and not variable_for(key)}
    return tuple((found | {key: Setting(key, value, "stage") for key, value in node.staged.items()}).values())


def _layers(cluster: Cluster, node: Node) -> tuple[Layer, ...]:
    return (*_from_brokers(cluster), *node.layers) if isinstance(node, Controller) else node.layers


def _from_brokers(cluster: Cluster) -> Iterator[Layer]:
    """The brokers' properties that controllers need too, where all brokers have the same value."""
    shared = defaults.SHARED_WITH_CONTROLLERS
    by_hand = [broker.set_by_hand() for broker in cluster.brokers]
    for layer in cluster.brokers[0].layers if cluster.brokers else ():
        agreed = {
            key: v for key, v in layer.properties.items() if key in shared and all(b.get(key) == v for b in by_hand)
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
    yield _own("dataDir", server.data_dir, "directory of snapshots and myid: zookeeper_data_dir")
    if server.log_dir:
        yield _own("dataLogDir", server.log_dir, "directory of the transaction log: zookeeper_log_dir")
    yield _own("clientPort", str(server.client_port), "port for brokers: zookeeper_client_port")
    if server.host.local:
        yield _own("clientPortAddress", server.host.address, _LOCAL_ONLY)
    for member in ensemble.servers:
        why = f"{member.host.name}, server {member.id} of the ensemble; the same on every server"
        yield _own(f"server.{member.id}", member.line, why)


def _controller(quorum: Quorum, controller: Controller) -> Iterator[Setting]:
    yield _own("process.roles", "controller", "the host is in the group kafka_controller")
    yield _own("node.id", str(controller.id), "from the inventory: kafka_controller_id")
    yield from _quorum(quorum)
    address, why = (controller.host.address, _LOCAL_ONLY) if controller.host.local else ("", "kafka_controller_port")
    yield _own("listeners", f"{CONTROLLER_LISTENER}://{address}:{controller.port}", why)
    yield _own("listener.security.protocol.map", _protocols((), kraft=True), "security protocol of each listener")
    yield _own("log.dirs", controller.data_dir, "directory of the metadata log: kafka_controller_data_dir")


def _broker(cluster: Cluster, broker: Broker) -> Iterator[Setting]:
    if isinstance(cluster.metadata, Quorum):
        yield _own("process.roles", "broker", "the host is in the group kafka_broker")
        yield _own("node.id", str(broker.id), "from the inventory: kafka_broker_id")
        yield from _quorum(cluster.metadata)
    else:
        yield _own("broker.id", str(broker.id), "from the inventory: kafka_broker_id")
        yield _own("zookeeper.connect", cluster.metadata.connect, "all servers of the group zookeeper")
    yield from _listeners(broker, kraft=isinstance(cluster.metadata, Quorum))
    yield _own("log.dirs", ",".join(broker.data_dirs), "data directories: kafka_data_dirs")
    if broker.rack:
        yield _own("broker.rack", broker.rack, "replicas are spread over racks: kafka_rack")


def _quorum(quorum: Quorum) -> Iterator[Setting]:
    yield _own("controller.quorum.voters", quorum.voters, "all hosts of the group kafka_controller")
    yield _own("controller.listener.names", CONTROLLER_LISTENER, "listener of the controllers")


def _listeners(broker: Broker, *, kraft: bool) -> Iterator[Setting]:
    bound = ",".join(listener.bind for listener in broker.listeners)
    advertised = ",".join(listener.advertised for listener in broker.listeners)
    yield _own("listeners", bound, "bind addresses: kafka_listeners")
    yield _own("advertised.listeners", advertised, "addresses for clients and other brokers: kafka_listeners")
    yield _own(
        "listener.security.protocol.map",
        _protocols(broker.listeners, kraft=kraft),
        "security protocol of each listener",
    )
    yield _own(
        "inter.broker.listener.name", broker.internal.label, "listener between brokers: kafka_inter_broker_listener"
    )


def _protocols(listeners: tuple[Listener, ...], *, kraft: bool) -> str:
    pairs = [f"{listener.label}:{listener.protocol}" for listener in listeners]
    return ",".join(pairs + ([f"{CONTROLLER_LISTENER}:PLAINTEXT"] if kraft else []))
