"""The text of a starter inventory, with a comment on each choice."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kcluster.config import defaults


@dataclass(frozen=True)
class Starter:
    """The content of a starter inventory."""

    name: str
    brokers: Sequence[str]
    """The hosts of the brokers; `zookeepers` and `controllers` likewise."""
    zookeepers: Sequence[str] = ()
    controllers: Sequence[str] = ()
    cluster_id: str = ""
    local: bool = True


def files(starter: Starter) -> Mapping[str, str]:
    """The files of the inventory, text by relative path."""
    metadata_vars = _controller_vars(starter) if starter.controllers else _zookeeper_vars(starter)
    group = "kafka_controller" if starter.controllers else "zookeeper"
    return {
        "hosts.yml": _hosts(starter),
        "group_vars/all/cluster.yml": _cluster(starter),
        "group_vars/all/topics.yml": _topics(starter),
        "group_vars/kafka_broker.yml": _broker_vars(starter),
        f"group_vars/{group}.yml": metadata_vars,
    }


def _hosts(starter: Starter) -> str:
    metadata = (
        _group("kafka_controller", "kafka_controller_id", starter.controllers, 3001)
        if starter.controllers
        else _group("zookeeper", "zookeeper_id", starter.zookeepers, 1)
    )
    return f"""---
# The hosts of the cluster {starter.name}, in groups. A host may be in several groups.
# Never change an id: it is stored in the data of its node.
all:
{_LOCAL if starter.local else _REMOTE}  children:
{metadata}{_group("kafka_broker", "kafka_broker_id", starter.brokers, 1)}"""


_LOCAL = """  vars:
    # All nodes run on this machine: `kcluster up` chooses their ports and directories.
    # For real hosts remove `ansible_connection`, and set `ansible_host` where a name does not resolve.
    ansible_connection: local
"""

_REMOTE = """  vars:
    # The login: root, or a user with sudo (then also ansible_become: true). Set `ansible_host` for a host whose name
    # does not resolve.
    ansible_user: root
"""


def _group(group: str, variable: str, hosts: Sequence[str], first: int) -> str:
    lines = [f"        {host}: {{{variable}: {number}}}" for number, host in enumerate(hosts, first)]
    return "\n".join([f"    {group}:", "      hosts:", *lines]) + "\n"


def _cluster(starter: Starter) -> str:
    kraft = f"""
# The id with which the KRaft storage is formatted. Never change it.
kafka_cluster_id: "{starter.cluster_id}"
"""
    return f"""---
# Variables of the whole cluster. docs/variables.md explains every variable.

# The cluster's name; commands that delete data ask for it.
kcluster_name: {starter.name}

# The Kafka release, in quotes: YAML would read 3.10 as the number 3.1.
kafka_version: "3.9.2"
{kraft if starter.controllers else ""}
# Properties of the brokers, with Kafka's names. kafka_config of a group or host adds to these, key by key.
# The defaults are for production; `kcluster render --explain` shows each with its reason.
kafka_config:
  log.retention.hours: 168
"""


def _topics(starter: Starter) -> str:
    replicas = defaults.replication_factor(len(starter.brokers))
    return f"""---
# Topics: `kcluster topic plan` shows the difference to the cluster, `kcluster topic apply` creates and changes them.
kafka_topics:
  - name: events
    partitions: 6
    replication_factor: {replicas}
    config:
      retention.ms: 604800000 # 7 days
"""


def _broker_vars(starter: Starter) -> str:
    heap = "256m" if starter.local else "4g"
    return f"""---
# Variables of the brokers; host_vars/HOST.yml overrides them for one host.

# The heap. Linux uses the rest of the memory as page cache, which Kafka needs.
kafka_heap: {heap}

# Data directories, one for each disk.
kafka_data_dirs: [/var/lib/kafka]

# Listeners. The advertised address is the host's, unless advertised_host is set.
kafka_listeners:
  - name: internal
    port: 9092
    protocol: PLAINTEXT

# The rack or zone: replicas are spread over racks. Set it in host_vars/HOST.yml, for every broker or for none.
# kafka_rack: zone-a
"""


def _zookeeper_vars(starter: Starter) -> str:
    return f"""---
# Variables of the ZooKeeper servers.
zookeeper_heap: {"128m" if starter.local else "1g"}

# ZooKeeper syncs its transaction log before each answer: use a separate disk for it, if there is one.
zookeeper_data_dir: /var/lib/zookeeper
# zookeeper_log_dir: /var/lib/zookeeper-log

# Properties of the servers, with ZooKeeper's names.
zookeeper_config:
  autopurge.snapRetainCount: 5
"""


def _controller_vars(starter: Starter) -> str:
    return f"""---
# Variables of the KRaft controllers.
kafka_controller_heap: {"128m" if starter.local else "1g"}
kafka_controller_port: 9093
kafka_controller_data_dir: /var/lib/kafka-controller
"""
