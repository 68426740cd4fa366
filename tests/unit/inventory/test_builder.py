"""From Ansible's answer to a cluster, with everything that is wrong collected on the way."""

from __future__ import annotations

from typing import Any

from kcluster.inventory import cluster_from
from kcluster.model.ensemble import Ensemble
from kcluster.model.quorum import Quorum


def data(**groups: Any) -> dict[str, Any]:
    """An answer of Ansible: group -> {host: variables}; `all` holds variables of everyone."""
    everyone = groups.pop("all", {})
    hosts: dict[str, dict[str, Any]] = {}
    for members in groups.values():
        for host, variables in members.items():
            hosts.setdefault(host, {}).update(variables)
    return {
        "all": {"children": list(groups), "vars": everyone},
        **{group: {"hosts": list(members)} for group, members in groups.items()},
        "_meta": {"hostvars": hosts},
    }


def messages(answer: dict[str, Any]) -> list[str]:
    return [finding.message for finding in cluster_from(answer)[1]]


ZOOKEEPER = {"zk1": {"zookeeper_id": 1}}
BROKER = {"b1": {"kafka_broker_id": 1}}


def test_the_smallest_inventory_has_every_default() -> None:
    cluster, findings = cluster_from(data(zookeeper=ZOOKEEPER, kafka_broker=BROKER), "demo")
    assert findings == []
    assert cluster
    assert isinstance(cluster.metadata, Ensemble)
    assert (cluster.name, cluster.release.version, cluster.metadata.connect) == ("demo", "3.9.2", "zk1:2181")
    (broker,) = cluster.brokers
    assert broker.internal.bind == "INTERNAL://:9092"
    assert (broker.heap, broker.data_dirs, broker.places.install_dir) == ("1g", ("/var/lib/kafka",), "/opt/kafka")
    assert cluster.metadata.servers[0].heap == "512m"


def test_controllers_get_the_settings_of_kafka_and_their_own() -> None:
    cluster, _ = cluster_from(
        data(
            all={
                "kafka_cluster_id": "MkU3OEVBNTcwNTJENDM2Qg",
                "kafka_config": {"a": 1, "b": 1},
                "kafka_controller_config": {"b": 2},
                "kafka_environment": {"X": "1", "Y": "1"},
                "kafka_controller_environment": {"Y": "2"},
            },
            kafka_controller={"c1": {"kafka_controller_id": 3001}},
            kafka_broker=BROKER,
        )
    )
    assert cluster
    assert isinstance(cluster.metadata, Quorum)
    (controller,) = cluster.metadata.controllers
    assert controller.set_by_hand() == {"a": "1", "b": "2"}
    assert cluster.brokers[0].set_by_hand() == {"a": "1", "b": "1"}
    assert (controller.environment, cluster.brokers[0].environment) == ({"X": "1", "Y": "2"}, {"X": "1", "Y": "1"})


def test_local_hosts_are_known_by_their_connection() -> None:
    cluster, _ = cluster_from(
        data(all={"ansible_connection": "local"}, zookeeper=ZOOKEEPER, kafka_broker=BROKER), "demo"
    )
    assert cluster
    assert cluster.local


def test_the_first_listener_is_the_inter_broker_one_when_none_is_internal() -> None:
    listeners = [{"name": "A", "port": 1}, {"name": "B", "port": 2}]
    answer = data(all={"kafka_listeners": listeners}, zookeeper=ZOOKEEPER, kafka_broker=BROKER)
    cluster, _ = cluster_from(answer)
    assert cluster
    assert cluster.brokers[0].internal.name == "A"
    answer["all"]["vars"]["kafka_inter_broker_listener"] = "b"
    cluster, findings = cluster_from(answer)
    assert cluster
    assert (cluster.brokers[0].internal.name, findings) == ("B", [])


def test_nodes_are_in_the_order_of_their_ids() -> None:
    brokers = {"x": {"kafka_broker_id": 3}, "y": {"kafka_broker_id": 1}}
    cluster, _ = cluster_from(data(zookeeper=ZOOKEEPER, kafka_broker=brokers))
    assert cluster
    assert [broker.host.name for broker in cluster.brokers] == ["y", "x"]


def test_all_faults_are_collected() -> None:
    answer = data(
        all={"kafka_heap": "lots", "kafka_verison": "3.9.2"},
        zookeeper={"zk1": {}},
        kafka_broker={"b1": {"kafka_broker_id": "one"}},
    )
    assert messages(answer) == [
        "kafka_heap in group all: 'lots' is not a memory size",
        "unknown variable kafka_verison in group all: did you mean kafka_version?",
        "kafka_broker_id on host b1: 'one' is not a whole number from 0",
        "host zk1 has no zookeeper_id",
    ]


def test_an_inventory_without_hosts_says_only_that() -> None:
    assert messages({"all": {"children": ["ungrouped"]}, "_meta": {"hostvars": {}}}) == ["the inventory has no hosts"]


def test_values_of_the_whole_cluster_must_agree() -> None:
    brokers = {
        "b1": {"kafka_broker_id": 1, "kafka_version": "3.9.1"},
        "b2": {"kafka_broker_id": 2, "kafka_version": "3.9.2"},
    }
    assert messages(data(zookeeper=ZOOKEEPER, kafka_broker=brokers)) == [
        "kafka_version must be the same for the whole cluster: '3.9.1' on b1, '3.9.2' on b2"
    ]


def test_secrets_that_do_not_agree_are_told_without_them() -> None:
    hosts = {"b1": {"kafka_broker_id": 1, "spark_secret": "hunter2"}, "b2": {"kafka_broker_id": 2, "spark_secret": "x"}}
    answer = data(zookeeper=ZOOKEEPER, kafka_broker=hosts, spark_master={"b1": {}})
    assert "spark_secret must be the same for the whole cluster; it differs on b1, b2" in messages(answer)
