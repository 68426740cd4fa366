"""The cluster of `up` without an inventory: numbers of brokers and of ZooKeeper servers or controllers."""

from __future__ import annotations

from kcluster.local.cluster_record import UpOrigin
from kcluster.model.broker import Broker
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Ensemble, Server
from kcluster.model.host import Host
from kcluster.model.listener import Listener
from kcluster.model.quorum import Controller, Quorum
from kcluster.model.release import Release

FIRST_CONTROLLER = 3000


def cluster_of(name: str, origin: UpOrigin, cluster_id: str) -> Cluster:
    """The cluster of this origin, on local hosts named broker1, zookeeper1, ..."""
    release = Release(version=origin.version) if origin.version else Release()
    metadata: Ensemble | Quorum
    if origin.kraft:
        metadata = Quorum(tuple(_controller(number) for number in range(origin.keepers)), cluster_id)
    else:
        metadata = Ensemble(tuple(_server(number) for number in range(1, origin.keepers + 1)))
    brokers = tuple(_broker(number) for number in range(1, origin.brokers + 1))
    return Cluster(name=name, release=release, metadata=metadata, brokers=brokers)


def _host(name: str) -> Host:
    return Host(name, "127.0.0.1", local=True)


def _server(number: int) -> Server:
    return Server(host=_host(f"zookeeper{number}"), id=number)


def _controller(number: int) -> Controller:
    return Controller(host=_host(f"controller{number + 1}"), id=FIRST_CONTROLLER + number)


def _broker(number: int) -> Broker:
    listener = Listener(name="internal", port=9092, advertised_host="127.0.0.1", advertised_port=9092)
    return Broker(host=_host(f"broker{number}"), id=number, listeners=(listener,))
