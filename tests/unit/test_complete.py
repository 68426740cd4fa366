"""Completion words: right, quick, and never an error."""

import time
from types import SimpleNamespace as Fake

import pytest

from kcluster import complete


def test_inventories_below_the_inventories_folder_come_first(tmp_path, monkeypatch):
    for name in ("local", "lab", ".hidden"):
        (tmp_path / "inventories" / name).mkdir(parents=True)
    (tmp_path / "inventories" / "notes.txt").touch()
    (tmp_path / "elsewhere").mkdir()
    monkeypatch.chdir(tmp_path)
    assert complete.inventories("") == ["inventories/lab", "inventories/local"]
    assert complete.inventories("inventories/lo") == ["inventories/local"]
    assert complete.inventories("el") == ["elsewhere"]
    assert complete.inventories(f"{tmp_path}/inv") == [f"{tmp_path}/inventories"]
    assert complete.inventories("nothing/here") == []


def test_local_clusters_are_those_of_this_machine(monkeypatch):
    monkeypatch.setattr("kcluster.local.cluster_names", lambda: ["demo", "dev", "prod"])
    assert complete.local_clusters("d") == ["demo", "dev"]


@pytest.fixture
def cluster(monkeypatch):
    """A cluster that every command line means."""
    metadata = Fake(topics={"orders": 1, "payments": 1, "__consumer_offsets": 1}, brokers={1: 1, 12: 1, 2: 1})
    target = Fake(kafka=Fake(metadata=lambda: metadata), cluster=Fake(names=("broker-1", "zookeeper-1", "box")))
    monkeypatch.setattr(complete, "_target", lambda ctx: target)
    return target


def test_topics_are_completed_and_internal_ones_only_when_asked_for(cluster):
    assert complete.topics(None, "") == ["orders", "payments"]
    assert complete.topics(None, "__") == ["__consumer_offsets"]


def test_brokers_and_nodes_are_completed(cluster):
    assert complete.brokers(None, "1") == ["1", "12"]
    assert complete.nodes(None, "b") == ["box", "broker-1"]


def test_topic_properties_are_completed_up_to_their_value():
    assert complete.topic_properties("retention.") == ["retention.bytes=", "retention.ms="]


def test_groups_are_completed(cluster, monkeypatch):
    monkeypatch.setattr("kcluster.clients.kafka.groups.names", lambda kafka: ["billing", "audit"])
    assert complete.groups(None, "b") == ["billing"]


def test_an_error_is_no_words_and_no_noise(monkeypatch, capfd):
    monkeypatch.setattr(complete, "_target", lambda ctx: 1 / 0)
    assert complete.topics(None, "") == []
    assert capfd.readouterr() == ("", "")


def test_a_cluster_that_does_not_answer_costs_a_second_at_most(monkeypatch):
    monkeypatch.setattr(complete, "_target", lambda ctx: time.sleep(30))
    begun = time.monotonic()
    assert complete.topics(None, "") == []
    assert time.monotonic() - begun < 10


def test_the_target_is_what_the_command_line_says(tmp_path):
    ctx = Fake(params={"inventory": tmp_path, "client_config": None})
    target = complete._target(ctx)
    assert (target.inventory, target.name, target.bootstrap, target.client_config) == (tmp_path, None, None, None)
