"""A node: one process of the cluster on one host, with the fields that all kinds share."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from enum import StrEnum
from typing import ClassVar

from kcluster.model.host import Host


class Kind(StrEnum):
    """The kinds of node; the value begins the node's name."""

    ZOOKEEPER = "zookeeper"
    CONTROLLER = "controller"
    BROKER = "broker"
    SPARK_MASTER = "spark-master"
    SPARK_WORKER = "spark-worker"


@dataclass(frozen=True)
class Layer:
    """The properties of one level of the inventory; later layers override earlier ones key by key."""

    source: str
    """"cluster", "group kafka_broker" or "host broker1"."""
    properties: Mapping[str, str]


@dataclass(frozen=True)
class Places:
    """The account of a node, and the directories of its files."""

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
    """The inventory's kafka_config, kafka_controller_config, zookeeper_config or spark_config, host last."""
    staged: Mapping[str, str] = field(default_factory=dict)
    """Properties for the time of a stage of a staged change; they outrank all others."""

    @property
    def name(self) -> str:
        """The node's name, unique in the cluster: "broker-1"."""
        return f"{self.kind}-{self.id}"

    def set_by_hand(self) -> dict[str, str]:
        """The properties that the inventory sets, all layers merged."""
        return {key: value for layer in self.layers for key, value in layer.properties.items()}
