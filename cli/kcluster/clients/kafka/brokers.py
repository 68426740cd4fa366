"""Questions about brokers, through one Kafka connection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kcluster.clients.kafka.connection import Kafka

_SOURCES = {
    "DYNAMIC_BROKER_CONFIG": "dynamic broker",
    "DYNAMIC_DEFAULT_BROKER_CONFIG": "dynamic default",
    "STATIC_BROKER_CONFIG": "static",
    "DEFAULT_CONFIG": "default",
    "DYNAMIC_BROKER_LOGGER_CONFIG": "dynamic logger",
}
"""Where an effective value comes from, in our words."""

_OVER_THE_WIRE = ("dynamic broker", "dynamic default")


def configs(kafka: Kafka, brokers: Sequence[int], *, within: float = 10.0) -> dict[int, Mapping[str, Any]]:
    """The effective config of each broker: entries by name."""
    from confluent_kafka.admin import ConfigResource, ResourceType

    # librdkafka takes one broker per call; all are under way before the first is waited for.
    places = {broker: ConfigResource(ResourceType.BROKER, str(broker)) for broker in brokers}
    calls = {
        broker: kafka.admin.describe_configs([place], request_timeout=within)[place] for broker, place in places.items()
    }
    return kafka.wait_each(calls)


def source_of(entry: Any) -> str:
    """Where the value of this entry comes from."""
    from confluent_kafka.admin import ConfigSource

    source = ConfigSource(entry.source).name
    return _SOURCES.get(source, source.lower())


def overrides(kafka: Kafka, brokers: Sequence[int], *, within: float) -> dict[int, dict[str, str]]:
    """The settings each broker was given over the wire, which outrank its file; secrets are left out."""
    return {
        broker: {
            name: entry.value
            for name, entry in config.items()
            if entry.value is not None and source_of(entry) in _OVER_THE_WIRE
        }
        for broker, config in configs(kafka, brokers, within=within).items()
    }
