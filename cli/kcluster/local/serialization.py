"""A cluster as plain data for the record, and back."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import fields, is_dataclass
from typing import Any

from kcluster.model.broker import Broker
from kcluster.model.client import Client
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Ensemble, Server
from kcluster.model.host import Host
from kcluster.model.listener import Listener
from kcluster.model.node import Layer, Places
from kcluster.model.quorum import Controller, Quorum
from kcluster.model.release import Release
from kcluster.model.topic import Topic


def as_plain_data(value: Any) -> Any:
    """Dictionaries, lists and words of a part of the model."""
    if is_dataclass(value):
        return {part.name: as_plain_data(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, Mapping):
        return {key: as_plain_data(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [as_plain_data(item) for item in value]
    return value


def cluster_from_data(data: dict[str, Any]) -> Cluster:
    """The cluster that `plain` took apart."""
    metadata = data["metadata"]
    return Cluster(
        name=data["name"],
        release=Release(**data["release"] | {"sources": tuple(data["release"]["sources"])}),
        metadata=_ensemble(metadata) if "servers" in metadata else _quorum(metadata),
        brokers=tuple(_broker(broker) for broker in data["brokers"]),
        topics=tuple(Topic(**topic) for topic in data["topics"]),
        client=Client(**data.get("client", {})),  # a cluster that an older kcluster started has none
    )


def _ensemble(data: dict[str, Any]) -> Ensemble:
    return Ensemble(tuple(Server(**_node(server)) for server in data["servers"]), data["chroot"])


def _quorum(data: dict[str, Any]) -> Quorum:
    return Quorum(tuple(Controller(**_node(controller)) for controller in data["controllers"]), data["cluster_id"])


def _broker(data: dict[str, Any]) -> Broker:
    listeners = tuple(Listener(**listener) for listener in data["listeners"])
    return Broker(**_node(data) | {"listeners": listeners, "data_dirs": tuple(data["data_dirs"])})


def _node(data: dict[str, Any]) -> dict[str, Any]:
    """A node's fields, with those that all kinds share made whole again."""
    return data | {
        "host": Host(**data["host"]),
        "places": Places(**data["places"]),
        "layers": tuple(Layer(**layer) for layer in data["layers"]),
    }
