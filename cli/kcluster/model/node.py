"""A node: one process of the cluster on one host, with everything the three kinds have in common."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar

from kcluster.model.host import Host


class Kind(StrEnum):
    """The kinds of process. The word is also the beginning of the node's name."""

    ZOOKEEPER = "zookeeper"
    CONTROLLER = "controller"
    BROKER = "broker"
    SPARK_MASTER = "spark-master"
    SPARK_WORKER = "spark-worker"


@dataclass(frozen=True)
class Layer:
    """Properties that people set at one place; later layers win key by key."""

    source: str
    """"cluster", "group kafka_broker" or "host broker1"."""
    properties: Mapping[str, str]


@dataclass(frozen=True)
class Places:
    """Whose files these are and where they lie on its host."""

    user: str = "kafka"
    group: str = "kafka"
    install_dir: str = "/opt/kafka"
    config_dir: str = "/etc/kafka"
    log_dir: str = "/var/log/kafka"


@dataclass(frozen=True, kw_only=True)
class Node:
    """One process on one host."""

    kind: ClassVar[Kind]

    host: Host
    id: int
    heap: str = "1g"
    environment: Mapping[str, str] = field(default_factory=dict)
    places: Places = Places()
    layers: tuple[Layer, ...] = ()
    """What people set with kafka_config, kafka_controller_config or zookeeper_config, cluster first, host last."""

    @property
    def name(self) -> str:
        """The node's name, unique in the cluster: "broker-1"."""
        return f"{self.kind}-{self.id}"

    def set_by_hand(self) -> dict[str, str]:
        """The properties people set, after the layers are laid over each other."""
        return {key: value for layer in self.layers for key, value in layer.properties.items()}
