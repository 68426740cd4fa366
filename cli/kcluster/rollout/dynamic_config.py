"""Dynamic config: set on running brokers over the wire, and read back until it is in effect."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import TYPE_CHECKING, Any

from kcluster.clients import wire
from kcluster.clients.kafka import Kafka, brokers
from kcluster.errors import ApplyError
from kcluster.model.client import PLAIN, protocol_of

if TYPE_CHECKING:
    from kcluster.model.broker import Broker
    from kcluster.model.cluster import Cluster
    from kcluster.plan import Dynamic
    from kcluster.results import Progress

_IN_EFFECT_WITHIN = 20.0


def apply_dynamic(
    cluster: Cluster, settings: Iterable[Dynamic], progress: Progress, client_config: Mapping[str, str] | None = None
) -> None:
    """Set each property on its broker or the whole cluster; blocks until all brokers report it, else ApplyError."""
    changes = list(settings)
    if not changes:
        return
    config = client_config or {}
    by_name = {broker.name: broker for broker in cluster.brokers}
    for setting in changes:
        progress(f"setting dynamic config {setting.key} on {setting.node or 'the whole cluster'}")
        if setting.node:
            _set_on_broker(by_name[setting.node], setting, config)
        else:
            _set_default(cluster.brokers[0], setting, config)
    for broker in cluster.brokers:
        _read_back(broker, [setting for setting in changes if setting.node in ("", broker.name)], config)


def _set_default(broker: Broker, setting: Dynamic, config: Mapping[str, str]) -> None:
    """Set the default of the whole cluster; the small client cannot log in, so it prefers a PLAINTEXT listener."""
    listener = broker.listener_for(PLAIN)
    login = {} if listener.protocol == PLAIN else config
    wire.set_cluster_default(listener.advertised_host, listener.advertised_port, setting.key, setting.after, login)


def _set_on_broker(broker: Broker, setting: Dynamic, config: Mapping[str, str]) -> None:
    from confluent_kafka.admin import AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType

    kafka = Kafka(_address(broker, config), config)
    how = AlterConfigOpType.DELETE if setting.after is None else AlterConfigOpType.SET
    entry = ConfigEntry(setting.key, setting.after, incremental_operation=how)
    resource = ConfigResource(ResourceType.BROKER, str(broker.id), incremental_configs=[entry])
    kafka.wait_each(kafka.admin.incremental_alter_configs([resource], request_timeout=30))


def _read_back(broker: Broker, settings: list[Dynamic], config: Mapping[str, str]) -> None:
    """ApplyError unless the broker reports every setting within the time."""
    kafka = Kafka(_address(broker, config), config)
    pending: list[str] = []

    def in_effect() -> bool | None:
        config = brokers.configs(kafka, [broker.id])[broker.id]
        pending[:] = [setting.key for setting in settings if not _matches(setting, config.get(setting.key))]
        return None if pending else True

    if settings and not kafka.until(in_effect, within=_IN_EFFECT_WITHIN):
        raise ApplyError(
            f"{broker.name}: dynamic config {', '.join(pending)} is not in effect after {_IN_EFFECT_WITHIN:.0f} s",
            resolution=f"kcluster broker config {broker.id} -i INV, then run it again",
        )


def _address(broker: Broker, config: Mapping[str, str]) -> str:
    return broker.listener_for(protocol_of(config)).address


def _matches(setting: Dynamic, entry: Any) -> bool:
    """Whether the broker reports the new value; the value of a secret is never reported, so it only has to be set."""
    dynamic = entry is not None and brokers.source_of(entry) == (
        "dynamic broker" if setting.node else "dynamic default"
    )
    if setting.after is None:
        return not dynamic
    return dynamic and (bool(entry.is_sensitive) or entry.value == setting.after)
