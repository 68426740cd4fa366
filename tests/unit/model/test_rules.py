"""What the rules say where the bad inventories do not reach: local hosts, and the borders of each rule."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import pytest

from kcluster.model.broker import Broker
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Ensemble, Server
from kcluster.model.finding import Finding
from kcluster.model.host import Host
from kcluster.model.listener import Listener
from kcluster.model.node import Layer
from kcluster.model.release import Release
from kcluster.model.topic import Topic
from kcluster.rules import broker_startup, directories, network, replication, safety, structure


def cluster(*, brokers: int = 3, local: bool = False, topics: tuple[Topic, ...] = (), **config: str) -> Cluster:
    """A sound cluster, each node on a host of its own, with these settings for all brokers."""
    layers = (Layer("cluster", {key.replace("_", "."): value for key, value in config.items()}),) if config else ()
    address = "127.0.0.1" if local else ""
    hosts = [Host(f"b{number}", address or f"b{number}", local) for number in range(brokers)]
    listener = Listener(name="internal", port=9092, advertised_host="", advertised_port=9092)
    return Cluster(
        "demo",
        Release(),
        Ensemble((Server(host=Host("z1", address or "z1", local), id=1),)),
        tuple(
            Broker(host=host, id=number, listeners=(replace(listener, advertised_host=host.address),), layers=layers)
            for number, host in enumerate(hosts)
        ),
        topics,
    )


def messages(found: Iterator[Finding] | list[Finding]) -> list[str]:
    return [finding.message for finding in found]


def test_local_hosts_share_an_address_and_never_collide() -> None:
    here = cluster(local=True)
    rules = (*network.RULES, *directories.RULES, safety.majority)
    assert [found for rule in rules for found in rule(here)] == []


@pytest.mark.parametrize(
    ("path", "fine"),
    [
        *((path, False) for path in ("/", "//", "/var", "/var/log/.", "/usr/lib64/kafka", "/bin/x", "/dev/shm/logs")),
        *((path, True) for path in ("/var/log/kafka", "/library", "/usr/local/kafka", "/mnt", "/home/kafka", "/devs")),
    ],
)
def test_no_folder_of_the_system_becomes_a_nodes(path: str, fine: bool) -> None:
    there = cluster(brokers=1)
    broker = replace(there.brokers[0], places=replace(there.brokers[0].places, log_dir=path))
    assert bool(messages(directories.folders_of_its_own(replace(there, brokers=(broker,))))) is not fine


def test_hosts_with_one_address_are_one_machine() -> None:
    host = Host("other", "b0")
    there = cluster(brokers=2)
    same = replace(there, brokers=(there.brokers[0], replace(there.brokers[1], host=host)))
    assert [message.split(" is ")[0] for message in messages(network.ports(same))] == ["port 9092 of {who}"]


@pytest.mark.parametrize(
    ("number", "fine"), [("1", True), ("2", True), ("3", False), ("4", False), ("not a number", True)]
)
def test_one_copy_may_always_be_missing(number: str, fine: bool) -> None:
    assert (list(replication.insync_replicas(cluster(min_insync_replicas=number))) == []) is fine


def test_a_single_broker_may_have_single_copies() -> None:
    alone = cluster(brokers=1, topics=(Topic("a", 1, 1),))
    assert [found for rule in replication.RULES for found in rule(alone)] == []


@pytest.mark.parametrize(("value", "fine"), [("4000", True), ("40000", True), ("3999", False), ("40001", False)])
def test_sessions_lie_within_2_to_20_ticks(value: str, fine: bool) -> None:
    assert (list(safety.sessions(cluster(zookeeper_session_timeout_ms=value))) == []) is fine


@pytest.mark.parametrize(
    ("value", "fine"), [("User:a;User:b", True), ("User:CN=a,OU=b", True), ("user:a", False), ("User:a, User:b", False)]
)
def test_super_users_are_separated_by_semicolons(value: str, fine: bool) -> None:
    assert (list(broker_startup.super_users(cluster(super_users=value))) == []) is fine


def test_an_unlimited_queue_fits_every_request() -> None:
    assert list(broker_startup.ordered(cluster(queued_max_request_bytes="-1"))) == []


@pytest.mark.parametrize(("chroot", "fine"), [("", True), ("/a/b", True), ("a", False), ("/a/", False), ("/", False)])
def test_a_chroot_is_one_path(chroot: str, fine: bool) -> None:
    sound = cluster()
    assert isinstance(sound.metadata, Ensemble)
    moved = replace(sound, metadata=replace(sound.metadata, chroot=chroot))
    assert (list(safety.chroot(moved)) == []) is fine


def test_fresh_cluster_ids_are_in_kafkas_form_and_differ() -> None:
    made = {structure.fresh_cluster_id() for _ in range(200)}
    assert len(made) == 200
    assert all(len(each) == 22 and not each.startswith("-") for each in made)
