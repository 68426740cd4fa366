"""`min.insync.replicas`: what the brokers use, dynamic config included, against what the inventory declares."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from typing import TYPE_CHECKING, Any

from kcluster.clients.kafka import brokers
from kcluster.config import properties
from kcluster.results import counted

if TYPE_CHECKING:
    from kcluster.clients.kafka import Kafka
    from kcluster.model.broker import Broker
    from kcluster.model.cluster import Cluster

PROPERTY = "min.insync.replicas"

_REMEDIES = {
    "dynamic broker": "delete this dynamic config of the broker with kafka-configs.sh, or run kcluster provision",
    "dynamic default": "set the dynamic default with kafka-configs.sh --entity-default, or run kcluster provision",
}
_REMEDY = "run kcluster provision, which writes and sets the declared value"


def too_low(kafka: Kafka, cluster: Cluster, alive: Collection[int]) -> list[str]:
    """A problem for each of these brokers whose effective value is lower than declared.

    Raises RefusedError without permission to read configs, UnreachableError when a broker does not answer.
    """
    declared = {broker.id: _declared(cluster, broker) for broker in cluster.brokers if broker.id in alive}
    configs = brokers.configs(kafka, list(declared), within=5.0)
    return [problem for broker, config in configs.items() for problem in judge_value(broker, declared[broker], config)]


def _declared(cluster: Cluster, broker: Broker) -> int:
    return next(int(setting.value) for setting in properties.settings(cluster, broker) if setting.key == PROPERTY)


def judge_value(broker: int, declared: int, config: Mapping[str, Any]) -> Iterator[str]:
    """A problem when the value in this config of a broker is lower than declared; its topics inherit it."""
    entry = config[PROPERTY]
    if int(entry.value) < declared:
        source, copies = brokers.source_of(entry), counted(int(entry.value), "broker")
        yield (
            f"broker {broker}: {PROPERTY} is {entry.value} ({source}), declared {declared}: acknowledged records "
            f"may be on {copies} only; {_REMEDIES.get(source, _REMEDY)}"
        )
