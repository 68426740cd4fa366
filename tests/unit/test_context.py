"""Which cluster a command means."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from kcluster import context, inventory, local, show
from kcluster.context import Target
from kcluster.errors import UsageError
from kcluster.model.broker import Broker
from kcluster.model.client import Client
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Ensemble, Server
from kcluster.model.host import Host
from kcluster.model.listener import Listener
from kcluster.model.release import Release


def a_cluster(name: str, address: str, *, on_this_machine: bool) -> Cluster:
    host = Host("h1", address, local=on_this_machine)
    listener = Listener(name="internal", port=9092, advertised_host=address, advertised_port=9092)
    return Cluster(
        name, Release(), Ensemble((Server(host=host, id=1),)), (Broker(host=host, id=1, listeners=(listener,)),)
    )


@pytest.fixture(autouse=True)
def clusters(monkeypatch: pytest.MonkeyPatch) -> None:
    """An inventory of far hosts, one of this machine, and the local cluster "laptop"."""
    inventories = {
        Path("far"): a_cluster("far", "10.0.0.1", on_this_machine=False),
        Path("near"): a_cluster("laptop", "h1", on_this_machine=True),
    }
    monkeypatch.setattr(inventory, "read", inventories.__getitem__)
    monkeypatch.setattr(local, "only", lambda: "laptop")
    monkeypatch.setattr(local, "running", lambda name: a_cluster(name, "127.0.0.1", on_this_machine=True))


def test_an_inventory_of_far_hosts_means_those_hosts() -> None:
    assert Target(inventory=Path("far")).kafka.bootstrap == "10.0.0.1:9092"


def test_an_inventory_of_this_machine_means_the_local_cluster_of_its_name() -> None:
    target = Target(inventory=Path("near"))
    assert (target.cluster.name, target.kafka.bootstrap) == ("laptop", "127.0.0.1:9092")


def test_a_flag_outranks_the_inventory_of_the_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCLUSTER_INVENTORY", "far")
    assert Target(inventory=Path("far"), name="other").cluster.name == "other"
    assert Target(inventory=Path("far"), bootstrap="b1:9092").kafka.bootstrap == "b1:9092"


@pytest.mark.parametrize(
    ("flags", "named"),
    [
        ({"inventory": Path("far"), "bootstrap": "b1:9092"}, "--inventory far and --bootstrap b1:9092"),
        ({"inventory": Path("far"), "name": "other"}, "--inventory far and --name other"),
        ({"name": "other", "bootstrap": "b1:9092"}, "--name other and --bootstrap b1:9092"),
    ],
)
def test_two_clusters_are_refused(flags: dict[str, Any], named: str) -> None:
    with pytest.raises(UsageError, match=f"{named} name two clusters"):
        Target(**flags)


def test_nothing_means_the_one_local_cluster() -> None:
    assert Target().cluster.name == "laptop"


def test_a_bootstrap_address_needs_no_inventory_and_has_no_model() -> None:
    target = Target(bootstrap="b1:9092")
    assert target.kafka.bootstrap == "b1:9092"
    with pytest.raises(UsageError, match="needs an inventory or a local cluster"):
        _ = target.cluster


def test_clients_say_what_the_file_says_else_what_the_inventory_says_and_come_in_accordingly(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    plain = a_cluster("far", "10.0.0.1", on_this_machine=False)
    (broker,) = plain.brokers
    outer = replace(broker.listeners[0], name="outer", protocol="SSL", advertised_port=9094)
    secured = replace(
        plain,
        brokers=(replace(broker, listeners=(*broker.listeners, outer)),),
        client=Client({"security.protocol": "SSL"}, "kafka_client_properties"),
    )
    monkeypatch.setattr(inventory, "read", lambda _: secured)
    file = tmp_path / "client.properties"
    file.write_text("client.id = me\n")

    by_inventory = Target(inventory=Path("far"))
    assert (by_inventory.kafka.bootstrap, by_inventory.kafka.config) == ("10.0.0.1:9094", {"security.protocol": "SSL"})
    by_file = Target(inventory=Path("far"), client_config=file)
    assert (by_file.kafka.bootstrap, by_file.kafka.config) == ("10.0.0.1:9092", {"client.id": "me"})
    by_address = Target(bootstrap="b1:1")
    assert (by_address.kafka.bootstrap, by_address.kafka.config) == ("b1:1", {})


@pytest.mark.parametrize(
    ("target", "spelled"),
    [
        (Target(bootstrap="b1:9092"), "--bootstrap b1:9092"),
        (Target(inventory=Path("far")), "-i far"),
        (Target(name="x"), "-n x"),
        (Target(), ""),
    ],
)
def test_suggested_commands_name_the_cluster_as_the_user_did(target: context.Target, spelled: str) -> None:
    assert target.spelled == spelled


def test_the_password_for_sudo_is_asked_for_once_and_only_at_a_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    asked: list[str] = []
    data = {"all": {"hosts": ["h1"]}, "_meta": {"hostvars": {}}}
    monkeypatch.setattr(inventory, "load", lambda path: inventory.Loaded(path, data))
    monkeypatch.setattr(show, "secret", lambda question: asked.append(question) or "geheim")
    target = Target(inventory=Path("far"), ask_become=True)
    monkeypatch.setattr(show, "interactive", lambda: False)
    with pytest.raises(UsageError, match="no terminal"):
        _ = target.logins
    monkeypatch.setattr(show, "interactive", lambda: True)
    assert target.logins["h1"].become_password == "geheim"
    assert target.logins["h1"].address == "h1"
    assert asked == ["sudo password: "]


def test_the_password_for_sudo_comes_from_the_environment_where_nobody_is_asked(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    assert Target().become_password == ""
    monkeypatch.setenv("KCLUSTER_BECOME_PASSWORD", "environment")
    assert Target().become_password == "environment"
