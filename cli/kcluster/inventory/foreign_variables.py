"""Variables of other roles, and names of Kafka's properties: what means the same here."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

CP_ANSIBLE = "cp-ansible"
SLEIGHZY = "sleighzy.kafka"
SLEIGHZY_ZOOKEEPER = "sleighzy.zookeeper"
AMQ_STREAMS = "amq_streams"

_ZOOKEEPER_HOSTS = "the hosts of the group zookeeper"
_ADVERTISED = "`advertised_host` and `advertised_port` of each listener in kafka_listeners"


@dataclass(frozen=True)
class Foreign:
    """A variable of another role."""

    role: str
    variable: str = ""
    """The variable of kcluster that means the same; empty when there is none."""
    instead: str = ""
    """What replaces it where no variable does."""


FOREIGN: Mapping[str, Foreign] = {
    "kafka_broker_custom_properties": Foreign(CP_ANSIBLE, "kafka_config"),
    "kafka_controller_custom_properties": Foreign(CP_ANSIBLE, "kafka_controller_config"),
    "zookeeper_custom_properties": Foreign(CP_ANSIBLE, "zookeeper_config"),
    "kafka_broker_custom_listeners": Foreign(CP_ANSIBLE, instead="kafka_listeners, a list"),
    "kafka_broker_inter_broker_listener_name": Foreign(CP_ANSIBLE, "kafka_inter_broker_listener"),
    "kafka_broker_service_environment_overrides": Foreign(CP_ANSIBLE, "kafka_environment"),
    "kafka_controller_service_environment_overrides": Foreign(CP_ANSIBLE, "kafka_controller_environment"),
    "zookeeper_service_environment_overrides": Foreign(CP_ANSIBLE, "zookeeper_environment"),
    "kafka_broker_user": Foreign(CP_ANSIBLE, "kafka_user"),
    "kafka_broker_group": Foreign(CP_ANSIBLE, "kafka_group"),
    "kafka_broker_log_dir": Foreign(CP_ANSIBLE, "kafka_log_dir"),
    "kafka_broker_default_internal_replication_factor": Foreign(
        CP_ANSIBLE, instead="offsets.topic.replication.factor and the like in kafka_config"
    ),
    "zookeeper_leader_port": Foreign(
        f"{CP_ANSIBLE} and {SLEIGHZY_ZOOKEEPER}",
        instead="zookeeper_election_port (3888) or zookeeper_peer_port (2888), whichever its number is for",
    ),
    "kafka_data_log_dirs": Foreign(SLEIGHZY, "kafka_data_dirs"),
    "kafka_java_heap": Foreign(SLEIGHZY, instead="kafka_heap, one size such as 4g"),
    "kafka_dir": Foreign(SLEIGHZY, "kafka_install_dir"),
    "kafka_root_dir": Foreign(SLEIGHZY, instead="kafka_install_dir, the whole path"),
    "kafka_listener_port": Foreign(SLEIGHZY, instead="`port` of a listener in kafka_listeners"),
    "kafka_listener_hostname": Foreign(SLEIGHZY, instead="`host` of a listener in kafka_listeners"),
    "kafka_listener_protocol": Foreign(SLEIGHZY, instead="`protocol` of a listener in kafka_listeners"),
    "kafka_listener_auth": Foreign(SLEIGHZY, instead="listener.name.NAME.MECHANISM.sasl.jaas.config in kafka_config"),
    "kafka_server_config_params": Foreign(SLEIGHZY, "kafka_config"),
    "kafka_zookeeper_data_dir": Foreign(SLEIGHZY, "zookeeper_data_dir"),
    "kafka_zookeeper_client_port": Foreign(SLEIGHZY, "zookeeper_client_port"),
    "kafka_download_base_url": Foreign(SLEIGHZY, "kafka_release_sources"),
    "kafka_cluster_uuid": Foreign(SLEIGHZY, "kafka_cluster_id"),
    "zookeeper_data_log_dir": Foreign(SLEIGHZY_ZOOKEEPER, "zookeeper_log_dir"),
    "zookeeper_servers": Foreign(SLEIGHZY_ZOOKEEPER, instead=_ZOOKEEPER_HOSTS),
    "kafka_advertised_listeners": Foreign(SLEIGHZY, instead=_ADVERTISED),
    "zookeeper_hosts": Foreign("a ZooKeeper role", instead=_ZOOKEEPER_HOSTS),
    "amq_streams_common_product_version": Foreign(AMQ_STREAMS, "kafka_version"),
    "amq_streams_common_scala_version": Foreign(AMQ_STREAMS, "kafka_scala_version"),
    "amq_streams_common_install_dir": Foreign(AMQ_STREAMS, "kafka_install_dir"),
    "amq_streams_common_download_url": Foreign(AMQ_STREAMS, "kafka_release_sources"),
    "amq_streams_broker_user": Foreign(AMQ_STREAMS, "kafka_user"),
    "amq_streams_broker_group": Foreign(AMQ_STREAMS, "kafka_group"),
    "amq_streams_broker_data_dir": Foreign(AMQ_STREAMS, "kafka_data_dirs"),
    "amq_streams_broker_logs_dir": Foreign(AMQ_STREAMS, "kafka_log_dir"),
    "amq_streams_broker_listeners": Foreign(AMQ_STREAMS, "kafka_listeners"),
    "amq_streams_broker_listener_port": Foreign(AMQ_STREAMS, instead="`port` of a listener in kafka_listeners"),
    "amq_streams_broker_java_heap_opts": Foreign(AMQ_STREAMS, instead="kafka_heap, one size such as 4g"),
    "amq_streams_broker_buffer_send_bytes": Foreign(AMQ_STREAMS, instead="socket.send.buffer.bytes in kafka_config"),
    "amq_streams_broker_buffer_bytes": Foreign(AMQ_STREAMS, instead="socket.receive.buffer.bytes in kafka_config"),
    "amq_streams_zookeeper_data_dir": Foreign(AMQ_STREAMS, "zookeeper_data_dir"),
    "amq_streams_zookeeper_port": Foreign(AMQ_STREAMS, "zookeeper_client_port"),
    "amq_streams_zookeeper_cluster_port_start": Foreign(AMQ_STREAMS, "zookeeper_peer_port"),
    "amq_streams_zookeeper_cluster_port_end": Foreign(AMQ_STREAMS, "zookeeper_election_port"),
}
"""By name: of cp-ansible 7, of sleighzy's roles kafka and zookeeper, and of middleware_automation.amq_streams."""

FOREIGN_IDS: Mapping[str, str] = {"broker_id": "kafka_broker_id"}
"""Ids of nodes in cp-ansible; a host without the id of kcluster must keep the one it has."""

PROPERTY_PREFIXES = ("amq_streams_broker_", "amq_streams_zookeeper_", "kafka_broker_", "kafka_", "zookeeper_")
"""Roles write these before the name of a property, with `_` for its dots; the longer ones first."""

SAME_VALUE = (
    *("log.dirs", "log.dir", "broker.id", "broker.rack", "listeners", "inter.broker.listener.name"),
    *("dataDir", "clientPort"),
)
"""Properties that kcluster writes from one variable, whose value is that of the property."""
