"""Ports, names, ways and clocks between hosts."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kcluster.facts.preflight import host_facts, port_matrix
from kcluster.facts.preflight.check_results import CheckResult
from kcluster.model.client import Client
from kcluster.model.cluster import Cluster
from kcluster.model.listener import Listener
from kcluster.operations.check import CheckSeverity, judge
from tests.unit.facts.preflight.conftest import NAMES, broker, good, with_host, with_knocks

H1 = "10.0.0.1"


def bad(cluster: Cluster, told: Any) -> list[CheckResult]:
    return [each for each in judge(cluster, told).answers if each.severity is not CheckSeverity.OK]


def test_a_port_that_another_program_holds_is_named_with_its_pid(cluster: Cluster) -> None:
    held = {9092: host_facts.PortUser(4711, "python3 -m http.server 9092", "web.service")}
    (failed,) = bad(cluster, with_host(good(cluster), "h1", ports=held))
    assert failed.id == "port-taken"
    assert failed.found == "port 9092 of broker-1 is held by pid 4711, python3 -m http.server 9092"
    assert failed.fix.startswith("systemctl stop web.service")


def test_a_port_that_our_own_unit_holds_is_good(cluster: Cluster) -> None:
    held = {
        9092: host_facts.PortUser(4711, "java", "kafka.service"),
        2181: host_facts.PortUser(4712, "java", "zookeeper.service"),
    }
    assert bad(cluster, with_host(good(cluster), "h1", ports=held)) == []


def test_the_unit_of_another_kind_of_node_is_not_ours(cluster: Cluster) -> None:
    held = {9092: host_facts.PortUser(4711, "java", "zookeeper.service")}
    assert [each.id for each in bad(cluster, with_host(good(cluster), "h1", ports=held))] == ["port-taken"]


def test_one_pair_that_cannot_talk_is_one_line_for_each_direction(cluster: Cluster) -> None:
    ports = [(H1, port) for port in (2181, 2888, 3888, 9092)]
    (failed,) = bad(cluster, with_knocks(good(cluster), "h2", "timed out", *ports))
    assert (failed.id, failed.severity, failed.host) == ("port-matrix", "error", "h2")
    assert failed.found == "ports 2181, 2888, 3888 and 9092 of h1 cannot be reached from h2: timed out"


def test_a_port_that_nobody_reaches_is_one_line_about_its_host(cluster: Cluster) -> None:
    told = with_knocks(good(cluster), "h2", "refused", (H1, 9092))
    (failed,) = bad(cluster, with_knocks(told, "h3", "refused", (H1, 9092)))
    assert (failed.host, failed.found) == (
        "h1",
        "port 9092 of h1 cannot be reached from any other host: connection refused",
    )


def test_what_this_machine_does_not_reach_is_one_line_for_each_port(cluster: Cluster) -> None:
    ports = [(f"10.0.0.{number}", port) for number in (1, 2, 3) for port in (2181, 9092)]
    failed = bad(cluster, with_knocks(good(cluster), port_matrix.HERE, "timed out", *ports))
    assert {(each.id, each.severity, each.host) for each in failed} == {("port-matrix", "error", "this machine")}
    assert [each.found for each in failed] == [
        "port 2181 of h1, h2 and h3 cannot be reached from this machine: timed out",
        "port 9092 of h1, h2 and h3 cannot be reached from this machine: timed out",
    ]
    assert failed[0].fix == "open the ports for this machine: kcluster explain port-matrix"


def test_what_no_host_reaches_stays_one_line_whatever_this_machine_finds(cluster: Cluster) -> None:
    told = good(cluster)
    for caller in ("h2", "h3", port_matrix.HERE):
        told = with_knocks(told, caller, "timed out" if caller == port_matrix.HERE else "refused", (H1, 9092))
    assert [(each.host, each.found) for each in bad(cluster, told)] == [
        ("h1", "port 9092 of h1 cannot be reached from any other host: connection refused"),
        ("this machine", "port 9092 of h1 cannot be reached from this machine: timed out"),
    ]


def test_this_machine_knocks_where_clients_come_in(cluster: Cluster) -> None:
    secure = Listener(name="secure", port=9093, advertised_host="kafka.example", advertised_port=9093, protocol="SSL")
    first = broker("h1")
    cluster = replace(
        cluster,
        metadata=replace(cluster.metadata, servers=cluster.metadata.nodes[:1]),
        brokers=(replace(first, listeners=(*first.listeners, secure)),),
        client=Client({"security.protocol": "SSL"}),
    )
    told = good(cluster)
    asked = port_matrix.questions(cluster, told.hosts)
    assert asked[port_matrix.HERE]["knock"] == [(H1, 2181), ("kafka.example", 9093)]
    assert {door["port"]: door["expected"] for door in asked["h1"]["open"]} == {2181: 1, 9093: 1}
    (lost,) = bad(
        cluster, with_knocks(told, port_matrix.HERE, "does not resolve: Name not known", ("kafka.example", 9093))
    )
    assert (lost.id, lost.host, lost.found) == ("name-resolution", "this machine", "kafka.example does not resolve")


def test_a_follower_that_runs_leaves_its_peer_port_closed(cluster: Cluster) -> None:
    told = with_knocks(good(cluster), "h2", "refused", (H1, 2888))
    assert [each.id for each in bad(cluster, told)] == ["port-matrix"]
    alive = {port: host_facts.PortUser(1, "java", "zookeeper.service") for port in (2181, 3888)}
    assert bad(cluster, with_host(told, "h1", ports=alive)) == []


def test_a_node_that_is_just_starting_is_no_error_and_its_ports_are_not_counted(cluster: Cluster) -> None:
    told = good(cluster)
    for caller in ("h2", "h3"):
        told = with_knocks(told, caller, "refused", (H1, 9092))
    told.networks["h1"] = replace(told.networks["h1"], starting=frozenset({9092}))
    (said,) = bad(cluster, told)
    assert (said.id, said.severity, said.host) == ("port-matrix", "info", "h1")
    assert said.found == "h1:9092 not tested: kafka.service is starting and opens its ports itself"
    reached = {each.host: each.found for each in judge(cluster, told).answers if each.id == "port-matrix"}
    assert reached["h2"] == "reaches 7 ports of 2 hosts"
    told = with_knocks(told, "h2", "timed out", (H1, 9092))  # a firewall is in the way whoever listens
    assert ("h2", "error") in {(each.host, each.severity) for each in bad(cluster, told)}


def test_a_listener_for_clients_outside_is_only_a_warning(cluster: Cluster) -> None:
    outside = Listener(name="external", port=9094, advertised_host="kafka.example", advertised_port=9094)
    first = broker("h1")
    cluster = replace(cluster, brokers=(replace(first, listeners=(*first.listeners, outside)), *cluster.brokers[1:]))
    (warned,) = bad(cluster, with_knocks(good(cluster), "h2", "timed out", ("kafka.example", 9094)))
    assert warned.severity == "warning"


def test_a_name_that_does_not_resolve_is_told_once_for_each_host(cluster: Cluster) -> None:
    told = with_knocks(good(cluster), "h3", "does not resolve: Name or service not known", (H1, 9092), (H1, 2181))
    (failed,) = bad(cluster, told)
    assert (failed.id, failed.host, failed.found) == ("name-resolution", "h3", "10.0.0.1 does not resolve")


def test_an_own_name_on_loopback_makes_zookeeper_deaf(cluster: Cluster) -> None:
    told = good(cluster)
    told.networks["h1"] = replace(told.networks["h1"], own_names={H1: ("127.0.1.1",)})
    (failed,) = bad(cluster, told)
    assert (failed.id, failed.severity) == ("own-name", "error")


def test_a_listener_binds_only_addresses_of_its_host(cluster: Cluster) -> None:
    (inner,) = cluster.brokers[0].listeners
    for bind, ids in (("10.9.9.9", ["bind-address"]), (H1, []), ("0.0.0.0", []), ("h1.example", [])):
        listeners = (replace(inner, host=bind),)
        changed = replace(cluster, brokers=(replace(cluster.brokers[0], listeners=listeners), *cluster.brokers[1:]))
        assert [each.id for each in bad(changed, good(changed))] == ids


@pytest.mark.parametrize(
    ("ahead", "severity"), [(0.6, None), (0.8, "warning"), (-0.8, "warning"), (5.1, "warning"), (6.0, "error")]
)
def test_only_a_skew_that_is_certain_counts(cluster: Cluster, ahead: float, severity: str | None) -> None:
    told = good(cluster)  # each clock is known to 0.1 s, so that two may differ by 0.2 s without being wrong
    told.skews["h3"] = host_facts.ClockSkew(ahead - 0.1, ahead + 0.1)
    found = [(each.id, each.host, each.severity) for each in bad(cluster, told)]
    assert found == ([("clock-skew", "h3", severity)] if severity else [])


def test_two_questions_narrow_what_is_known_of_a_clock() -> None:
    first, second = host_facts.skew(100.0, 103.0, 103.1, 101.0), host_facts.skew(102.0, 104.3, 104.4, 102.5)
    assert (first.low, first.high) == pytest.approx((2.1, 3.0))
    narrowed = first.narrowed(second)
    assert (narrowed.low, narrowed.high) == pytest.approx((2.1, 2.3))


def test_each_host_opens_what_is_closed_and_knocks_at_what_it_needs(cluster: Cluster) -> None:
    asked = port_matrix.questions(cluster, good(cluster).hosts)
    assert {door["port"]: door["expected"] for door in asked["h1"]["open"]} == {2181: 3, 2888: 2, 3888: 2, 9092: 3}
    assert sorted(asked["h1"]["knock"]) == sorted(
        (f"10.0.0.{number}", port) for number in (2, 3) for port in (2181, 2888, 3888, 9092)
    )
    assert asked["h1"]["once"] == []
    alone = port_matrix.questions(cluster, good(cluster).hosts, here=False)
    assert set(alone) == set(NAMES)
    assert {door["port"]: door["expected"] for door in alone["h1"]["open"]} == {2181: 2, 2888: 2, 3888: 2, 9092: 2}


def test_ports_of_a_node_that_runs_and_of_hosts_that_are_away_are_left_alone(cluster: Cluster) -> None:
    zookeeper = host_facts.PortUser(1, "java", "zookeeper.service")
    told = with_host(good(cluster), "h1", ports={2181: zookeeper, 3888: zookeeper})
    del told.hosts["h3"]
    asked = port_matrix.questions(cluster, told.hosts)
    assert {door["port"]: door["expected"] for door in asked["h1"]["open"]} == {9092: 2}
    assert {address for address, _ in asked["h1"]["knock"]} == {"10.0.0.2"}
    assert sorted(asked["h2"]["once"]) == [(H1, 2181), (H1, 2888), (H1, 3888)]


def test_the_new_port_of_a_node_that_runs_is_tried_too(cluster: Cluster) -> None:
    moved = replace(cluster.brokers[0].internal, name="more", port=9094, advertised_port=9094)
    more = replace(cluster.brokers[0], listeners=(cluster.brokers[0].internal, moved))
    told = with_host(good(cluster), "h1", ports={9092: host_facts.PortUser(1, "java", "kafka.service")})
    asked = port_matrix.questions(replace(cluster, brokers=(more, *cluster.brokers[1:])), told.hosts)
    assert 9094 in {door["port"] for door in asked["h1"]["open"]}
    assert 9092 not in {door["port"] for door in asked["h1"]["open"]}


def test_every_host_knows_the_names_under_which_others_know_it(cluster: Cluster) -> None:
    assert [port_matrix.own_names(cluster, name) for name in NAMES] == [(H1,), ("10.0.0.2",), ("10.0.0.3",)]
