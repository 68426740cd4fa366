"""Questions about brokers, through one Kafka connection."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from kcluster.clients.kafka.connection import Kafka

_OVER_THE_WIRE = ("DYNAMIC_BROKER_CONFIG", "DYNAMIC_DEFAULT_BROKER_CONFIG")


def overrides(kafka: Kafka, brokers: Sequence[int], *, within: float) -> dict[int, dict[str, str]]:
    """The settings each broker was given over the wire, which outrank its file; secrets are left out."""
    from confluent_kafka.admin import ConfigResource, ResourceType

    # librdkafka takes one broker per call; all are under way before the first is waited for.
    places = {broker: ConfigResource(ResourceType.BROKER, str(broker)) for broker in brokers}
    calls = {
        broker: kafka.admin.describe_configs([place], request_timeout=within)[place] for broker, place in places.items()
    }
    return {broker: _overriding(answer) for broker, answer in kafka.wait_each(calls).items()}


def _overriding(answer: Mapping[str, Any]) -> dict[str, str]:
    from confluent_kafka.admin import ConfigSource

    sources = {ConfigSource[name].value for name in _OVER_THE_WIRE}
    return {name: entry.value for name, entry in answer.items() if entry.source in sources and entry.value is not None}
