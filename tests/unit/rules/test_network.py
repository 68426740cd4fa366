"""Local hosts share an address without a finding; hosts with one address are one machine."""

from __future__ import annotations

from dataclasses import replace

from kcluster.model.host import Host
from kcluster.rules import directories, network, safety
from tests.unit.rules.sound_cluster import cluster


def test_local_hosts_share_an_address_and_never_collide() -> None:
    local = cluster(local=True)
    rules = (*network.RULES, *directories.RULES, safety.odd_metadata_quorum)
    assert [finding for rule in rules for finding in rule(local)] == []


def test_hosts_with_one_address_are_one_machine() -> None:
    host = Host("other", "b0")
    sound = cluster(brokers=2)
    same = replace(sound, brokers=(sound.brokers[0], replace(sound.brokers[1], host=host)))
    assert [found.message.split(" is ")[0] for found in network.ports_unique(same)] == ["port 9092 of {who}"]
