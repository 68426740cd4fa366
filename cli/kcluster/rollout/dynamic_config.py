"""Settings that running brokers take over the wire: told, and read back until they count."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from kcluster.clients import wire
from kcluster.clients.kafka import Kafka
from kcluster.errors import ApplyError
from kcluster.model.client import PLAIN, protocol_of

if TYPE_CHECKING:
    from kcluster.model.broker import Broker
    from kcluster.model.cluster import Cluster
    from kcluster.plan import Dynamic
    from kcluster.results import Progress

_COUNTS_WITHIN = 20.0


def apply_dynamic(
    cluster: Cluster, settings: Iterable[Dynamic], progress: Progress, client_config: Mapping[str, str] | None = None
) -> None:
    """Tell the brokers each setting, and return when all of them say that it counts."""
    wanted = list(settings)
    if not wanted:
        return
    config = client_config or {}
    brokers = {broker.name: broker for broker in cluster.brokers}
    for setting in wanted:
        progress(f"setting {setting.key} on {setting.node or 'the whole cluster'} while it runs")
        if setting.node:
            _tell(brokers[setting.node], setting, config)
        else:
            _tell_all(cluster.brokers[0], setting, config)
    for broker in cluster.brokers:
        _read_back(broker, [setting for setting in wanted if setting.node in ("", broker.name)], config)


def _tell_all(broker: Broker, setting: Dynamic, config: Mapping[str, str]) -> None:
    """Tell a setting of the whole cluster; the small client cannot log in, so it prefers an open listener."""
    asked = broker.listener_for(PLAIN)
    said = {} if asked.protocol == PLAIN else config
    wire.set_cluster_default(asked.advertised_host, asked.advertised_port, setting.key, setting.after, said)


def _tell(broker: Broker, setting: Dynamic, config: Mapping[str, str]) -> None:
    from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

    kafka = Kafka(_address(broker, config), config)
    how = AlterConfigOpType.DELETE if setting.after is None else AlterConfigOpType.SET
    entry = ConfigEntry(setting.key, setting.after, incremental_operation=how)
    resource = ConfigResource(ResourceType.BROKER, str(broker.id), incremental_configs=[entry])
    kafka.wait_each(kafka.admin.incremental_alter_configs([resource], request_timeout=30))


def _read_back(broker: Broker, settings: list[Dynamic], config: Mapping[str, str]) -> None:
    """Raise unless the broker says within the time that every setting counts."""
    kafka = Kafka(_address(broker, config), config)
    left: list[str] = []

    def counted() -> bool | None:
        told = _told(kafka, broker)
        left[:] = [setting.key for setting in settings if not _counts(setting, told.get(setting.key))]
        return None if left else True

    if settings and not kafka.until(counted, within=_COUNTS_WITHIN):
        raise ApplyError(
            f"{broker.name} does not say that {', '.join(left)} counts after {_COUNTS_WITHIN:.0f} s",
            resolution=f"kcluster broker config {broker.id} -i INV, then run it again",
        )


def _address(broker: Broker, config: Mapping[str, str]) -> str:
    return broker.listener_for(protocol_of(config)).address


def _told(kafka: Kafka, broker: Broker) -> Mapping[str, Any]:
    from confluent_kafka.admin import ConfigResource, ResourceType

    resource = ConfigResource(ResourceType.BROKER, str(broker.id))
    told: Mapping[str, Any] = kafka.wait_each(kafka.admin.describe_configs([resource], request_timeout=10))[resource]
    return told


def _counts(setting: Dynamic, entry: Any) -> bool:
    """Whether the broker's answer is what was wanted; a secret is never told, so it only has to be there."""
    from confluent_kafka.admin import ConfigSource

    source = ConfigSource.DYNAMIC_BROKER_CONFIG if setting.node else ConfigSource.DYNAMIC_DEFAULT_BROKER_CONFIG
    dynamic = entry is not None and entry.source == source.value
    if setting.after is None:
        return not dynamic
    return dynamic and (bool(entry.is_sensitive) or entry.value == setting.after)
