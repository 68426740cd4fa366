from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kcluster.facts.preflight import host_facts, port_matrix
from kcluster.facts.preflight.collect import PreflightFacts, host_query
from kcluster.model.broker import Broker
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Ensemble, Server
from kcluster.model.host import Host
from kcluster.model.listener import Listener
from kcluster.model.release import Release

NAMES = ("h1", "h2", "h3")


def host_of(name: str) -> Host:
    return Host(name, f"10.0.0.{name[1:]}")


def broker(name: str, **given: Any) -> Broker:
    host = host_of(name)
    listener = Listener(name="internal", port=9092, advertised_host=host.address, advertised_port=9092)
    return Broker(**{"host": host, "id": int(name[1:]), "listeners": (listener,), **given})


@pytest.fixture
def cluster() -> Cluster:
    """Three hosts with a ZooKeeper server and a broker each."""
    servers = tuple(Server(host=host_of(name), id=int(name[1:]), heap="512m") for name in NAMES)
    return Cluster("trio", Release(), Ensemble(servers), tuple(broker(name) for name in NAMES))


def good_host(cluster: Cluster, name: str, **given: Any) -> host_facts.HostFacts:
    asked = host_query(cluster, name)
    said: dict[str, Any] = {
        "os": {"ID": "debian", "VERSION_ID": "12", "PRETTY_NAME": "Debian GNU/Linux 12 (bookworm)"},
        "java": dict.fromkeys(asked["java_homes"], host_facts.JavaFacts("/usr/bin/java", "17.0.15")),
        "kernel": {"vm/swappiness": "1", "vm/max_map_count": "262144", "fs/nr_open": "1048576"},
        "huge_pages": "madvise",
        "directories": dict.fromkeys(asked["directories"], host_facts.DirectoryFacts()),
        "journals": dict.fromkeys(asked["journals"], host_facts.LogDiskFacts()),
        "addresses": ("127.0.0.1", host_of(name).address),
    }
    return host_facts.HostFacts(**{**said, **given})


def good(cluster: Cluster) -> PreflightFacts:
    """What hosts tell on which nothing is wrong."""
    hosts = {host.name: good_host(cluster, host.name) for host in cluster.every_host}
    networks = {
        name: host_facts.NetworkFacts(
            own_names={own: (own,) for own in asked["own_names"]},
            knocks=dict.fromkeys(asked["knock"], ""),
        )
        for name, asked in port_matrix.questions(cluster, hosts).items()
    }
    return PreflightFacts(hosts, networks, dict.fromkeys(hosts, host_facts.ClockSkew(-0.1, 0.1)))


def with_host(told: PreflightFacts, name: str, **given: Any) -> PreflightFacts:
    """The same, but one host tells something else."""
    told.hosts[name] = replace(told.hosts[name], **given)
    return told


def with_directory(told: PreflightFacts, name: str, path: str, **given: Any) -> PreflightFacts:
    """The same, but one directory is different."""
    changed = {path: replace(told.hosts[name].directories[path], **given)}
    return with_host(told, name, directories={**told.hosts[name].directories, **changed})


def with_knocks(told: PreflightFacts, caller: str, why: str, *doors: tuple[str, int]) -> PreflightFacts:
    """The same, but one host does not get through some doors."""
    knocks = {**told.networks[caller].knocks, **dict.fromkeys(doors, why)}
    told.networks[caller] = replace(told.networks[caller], knocks=knocks)
    return told
