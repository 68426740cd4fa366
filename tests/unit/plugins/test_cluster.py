"""What every action plugin reads: the inventory of the run, and the part of the cluster that a task names."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

from kcluster import inventory
from kcluster.model.cluster import Cluster

Plugin = Callable[[str], ModuleType]


@pytest.fixture
def cluster(project: Path) -> Cluster:
    """Three KRaft controllers and brokers, and no Spark."""
    return inventory.read(project / "tests/golden/kraft-3.9/inventory.yml")


def test_a_part_that_is_not_there_is_answered_with_what_to_do(plugin: Plugin, cluster: Cluster) -> None:
    reading = plugin("plugin_utils.cluster")
    assert reading.part(cluster, {}) is cluster
    with pytest.raises(reading.AnsibleActionFail, match="has no Spark\ntry: put hosts into the groups spark_master"):
        reading.part(cluster, {"part": "spark"})
    with pytest.raises(reading.AnsibleActionFail, match="there is no part flink"):
        reading.part(cluster, {"part": "flink"})


@pytest.mark.parametrize("sources", [[], ["/nowhere/at/all"], ["a", "b"], ["h1,h2,"]])
def test_a_cluster_is_described_in_one_inventory(plugin: Plugin, sources: list[str]) -> None:
    with pytest.raises(Exception, match="kcluster reads the cluster from one inventory, a file or a folder"):
        plugin("plugin_utils.cluster")._source({"ansible_inventory_sources": sources})


def test_a_variable_that_a_play_or_role_sets_is_refused_instead_of_ignored(plugin: Plugin) -> None:
    asked = plugin("plugin_utils.cluster")._refuse_variables_of_plays
    host, group = {"kafka_heap": "1g"}, {"kafka_config": {"num.io.threads": 8}}
    data = {"all": {"children": ["kafka_broker"]}, "kafka_broker": {"vars": group}, "_meta": {"hostvars": {"h1": host}}}
    play = {"inventory_hostname": "h1", **host, **group, "kafka_install_java": True, "kafka_node_kind": "broker"}
    asked(play, data)
    asked({**play, "kafka_heap": "1g\n"}, data)  # as Ansible opens a vaulted value that ends in a line break
    for given in ({"kafka_heap": "2g"}, {"kafka_config": {"num.io.threads": 9}}, {"kafka_data_dirs": ["/d"]}):
        with pytest.raises(Exception, match=f"{next(iter(given))}: set by a play.*\ntry: write it in"):
            asked({**play, **given}, data)
