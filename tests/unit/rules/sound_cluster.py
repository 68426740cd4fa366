"""A sound cluster for tests of rules, each of which then spoils one thing."""

from __future__ import annotations

from dataclasses import replace

from kcluster.model.broker import Broker
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Ensemble, Server
from kcluster.model.host import Host
from kcluster.model.listener import Listener
from kcluster.model.node import Layer
from kcluster.model.release import Release
from kcluster.model.topic import Topic


def cluster(*, brokers: int = 3, local: bool = False, topics: tuple[Topic, ...] = (), **config: str) -> Cluster:
    """A sound cluster, each node on a host of its own, with these settings for all brokers."""
    layers = (Layer("cluster", {key.replace("_", "."): value for key, value in config.items()}),) if config else ()
    address = "127.0.0.1" if local else ""
    hosts = [Host(f"b{number}", address or f"b{number}", local) for number in range(brokers)]
    listener = Listener(name="internal", port=9092, advertised_host="", advertised_port=9092)
    return Cluster(
        "demo",
        Release(),
        Ensemble((Server(host=Host("z1", address or "z1", local), id=1),)),
        tuple(
            Broker(host=host, id=number, listeners=(replace(listener, advertised_host=host.address),), layers=layers)
            for number, host in enumerate(hosts)
        ),
        topics,
    )
