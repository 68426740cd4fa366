"""The properties kcluster writes itself, and the variable or group from which each is derived."""

from __future__ import annotations

import re
from collections.abc import Mapping

OWNED_PROPERTIES: Mapping[str, str] = {
    # brokers and controllers
    "listeners": "kafka_listeners",
    "advertised.listeners": "kafka_listeners",
    "listener.security.protocol.map": "kafka_listeners",
    "inter.broker.listener.name": "kafka_inter_broker_listener",
    "security.inter.broker.protocol": "kafka_inter_broker_listener",
    "broker.id": "kafka_broker_id",
    "node.id": "kafka_broker_id or kafka_controller_id",
    "process.roles": "the group of the host: kafka_broker or kafka_controller",
    "controller.quorum.voters": "the group kafka_controller",
    "controller.quorum.bootstrap.servers": "the group kafka_controller",
    "controller.listener.names": "the group kafka_controller",
    "zookeeper.connect": "the group zookeeper and zookeeper_chroot",
    "log.dir": "kafka_data_dirs",
    "log.dirs": "kafka_data_dirs",
    "metadata.log.dir": "kafka_data_dirs",
    "broker.rack": "kafka_rack",
    # ZooKeeper
    "server.N": "the group zookeeper, zookeeper_peer_port and zookeeper_election_port",
    "dataDir": "zookeeper_data_dir",
    "dataLogDir": "zookeeper_log_dir",
    "clientPort": "zookeeper_client_port",
}
"""Property -> variable or group; `server.N` stands for every server of the ensemble."""

OWNED_SPARK_PROPERTIES: Mapping[str, str] = {
    "spark.authenticate": "spark_secret",
    "spark.authenticate.secret": "spark_secret",
    "spark.deploy.recoveryMode": "the group zookeeper",
    "spark.deploy.recoveryDirectory": "the unit's StateDirectory",
    "spark.deploy.zookeeper.url": "the group zookeeper",
    "spark.deploy.zookeeper.dir": "kcluster_name",
}
"""The same for Spark masters and workers."""

_MEMBER = re.compile(r"server\.\d+")


def variable_for(key: str) -> str:
    """The variable or group from which a property is derived; empty when the inventory may set the property."""
    return OWNED_PROPERTIES.get("server.N" if _MEMBER.fullmatch(key) else key, "")
