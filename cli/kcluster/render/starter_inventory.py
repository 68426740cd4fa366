"""The text of a starter inventory: what a newcomer reads first, so every choice is explained where it is made."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from kcluster.config import defaults


@dataclass(frozen=True)
class Starter:
    """What a starter inventory is made of."""

    name: str
    brokers: Sequence[str]
    """The hosts of the brokers; the others likewise."""
    zookeepers: Sequence[str] = ()
    controllers: Sequence[str] = ()
    cluster_id: str = ""
    local: bool = True


def files(starter: Starter) -> Mapping[str, str]:
    """The files of the inventory: path -> text."""
    keepers = _controller_vars(starter) if starter.controllers else _zookeeper_vars(starter)
    group = "kafka_controller" if starter.controllers else "zookeeper"
    return {
        "hosts.yml": _hosts(starter),
        "group_vars/all/cluster.yml": _cluster(starter),
        "group_vars/all/topics.yml": _topics(starter),
        "group_vars/kafka_broker.yml": _broker_vars(starter),
        f"group_vars/{group}.yml": keepers,
    }


def _hosts(starter: Starter) -> str:
    keepers = (
        _group("kafka_controller", "kafka_controller_id", starter.controllers, 3001)
        if starter.controllers
        else _group("zookeeper", "zookeeper_id", starter.zookeepers, 1)
    )
    return f"""---
# The hosts of the cluster {starter.name}, in groups. A host may be in several groups.
# Ids are written here once and never change: they are in the data of each node.
all:
{_LOCAL if starter.local else _REMOTE}  children:
{keepers}{_group("kafka_broker", "kafka_broker_id", starter.brokers, 1)}"""


_LOCAL = """  vars:
    # All nodes run on this machine: `kcluster up` gives each one its ports and directories.
    # For real hosts remove these two lines and give each host an `ansible_host` where its name is not enough.
    ansible_connection: local
"""

_REMOTE = """  vars:
    # Who logs in: root, or an account that may become root with sudo. Where a host's name is not enough, give the
    # host an `ansible_host`.
    ansible_user: root
"""


def _group(group: str, word: str, hosts: Sequence[str], first: int) -> str:
    lines = [f"        {host}: {{{word}: {number}}}" for number, host in enumerate(hosts, first)]
    return "\n".join([f"    {group}:", "      hosts:", *lines]) + "\n"


def _cluster(starter: Starter) -> str:
    kraft = f"""
# The id the cluster is formatted with. Made once for this cluster; never change it.
kafka_cluster_id: "{starter.cluster_id}"
"""
    return f"""---
# What holds for the whole cluster. Every word is explained in docs/variables.md.

# The cluster's name; whatever deletes data asks for it.
kcluster_name: {starter.name}

# The Kafka release. Always in quotes: YAML would read 3.10 as the number 3.1.
kafka_version: "3.9.2"
{kraft if starter.controllers else ""}
# Any property of the brokers, in Kafka's own spelling. The same word in a group's or host's file adds to these.
# The defaults are made for production; `kcluster render --explain` shows each with the reason for it.
kafka_config:
  log.retention.hours: 168
"""


def _topics(starter: Starter) -> str:
    copies = defaults.replication_factor(len(starter.brokers))
    return f"""---
# The topics that `kcluster topic plan` compares with the cluster and `kcluster topic apply` brings into being.
kafka_topics:
  - name: events
    partitions: 6
    replication_factor: {copies}
    config:
      retention.ms: 604800000 # 7 days
"""


def _broker_vars(starter: Starter) -> str:
    heap = "256m" if starter.local else "4g"
    return f"""---
# What holds for the brokers. A file host_vars/HOST.yml says it for one of them.

# The heap. The rest of the memory is not wasted: Linux keeps what was written last in it.
kafka_heap: {heap}

# One directory for each disk.
kafka_data_dirs: [/var/lib/kafka]

# The doors of a broker. The address others use is the host's, unless advertised_host says otherwise.
kafka_listeners:
  - name: internal
    port: 9092
    protocol: PLAINTEXT

# The rack or zone of a broker, so that copies never share one; in host_vars/HOST.yml, for every broker or for none.
# kafka_rack: zone-a
"""


def _zookeeper_vars(starter: Starter) -> str:
    return f"""---
# What holds for the ZooKeeper servers.
zookeeper_heap: {"128m" if starter.local else "1g"}

# The transaction log is written before each answer: give it a disk of its own where there is one.
zookeeper_data_dir: /var/lib/zookeeper
# zookeeper_log_dir: /var/lib/zookeeper-log

# Any property of the servers, in ZooKeeper's own spelling.
zookeeper_config:
  autopurge.snapRetainCount: 5
"""


def _controller_vars(starter: Starter) -> str:
    return f"""---
# What holds for the KRaft controllers.
kafka_controller_heap: {"128m" if starter.local else "1g"}
kafka_controller_port: 9093
kafka_controller_data_dir: /var/lib/kafka-controller
"""
