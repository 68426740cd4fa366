"""The endpoints of a node, out of the properties that its process has read."""

from __future__ import annotations

import pytest

from kcluster.facts.started import as_started
from kcluster.model.broker import Broker
from kcluster.model.endpoints import address_of
from kcluster.model.ensemble import Server
from kcluster.model.quorum import Controller
from tests.unit.fake_hosts import BROKERS, HOSTS, SERVERS

INNER = {"listeners": "INNER://:9192", "inter.broker.listener.name": "INNER"}
TWO = {
    "listeners": "INNER://10.1.0.1:9192,OUTER://:9194",
    "advertised.listeners": "INNER://10.1.0.1:9192,OUTER://[2001:db8::1]:443",
    "listener.security.protocol.map": "INNER:PLAINTEXT,OUTER:SASL_SSL",
    "inter.broker.listener.name": "INNER",
}


@pytest.mark.parametrize(
    ("properties", "inner", "protocols", "advertised"),
    [
        ({}, ("10.0.0.1", 9092), ["PLAINTEXT"], ["10.0.0.1:9092"]),
        (INNER, ("10.0.0.1", 9192), ["INNER"], ["10.0.0.1:9192"]),
        (TWO, ("10.1.0.1", 9192), ["PLAINTEXT", "SASL_SSL"], ["10.1.0.1:9192", "2001:db8::1:443"]),
        ({"listeners": "PLAINTEXT://:9095"}, ("10.0.0.1", 9095), ["PLAINTEXT"], ["10.0.0.1:9095"]),
        (
            {"listeners": "SSL://:1,PLAINTEXT://:2", "security.inter.broker.protocol": "SSL"},
            ("10.0.0.1", 1),
            ["SSL", "PLAINTEXT"],
            ["10.0.0.1:1", "10.0.0.1:2"],
        ),
    ],
)
def test_a_broker_has_the_listeners_of_its_process(
    properties: dict[str, str], inner: tuple[str, int], protocols: list[str], advertised: list[str]
) -> None:
    broker = as_started(BROKERS[0], properties)
    assert isinstance(broker, Broker)
    assert address_of(broker) == inner
    assert [listener.protocol for listener in broker.listeners] == protocols
    assert [listener.address for listener in broker.listeners] == advertised


def test_servers_and_controllers_have_the_port_of_their_process() -> None:
    server = as_started(SERVERS[0], {"clientPort": "2281"})
    assert isinstance(server, Server)
    assert address_of(server) == ("10.0.0.1", 2281)
    controller = as_started(Controller(host=HOSTS[0], id=3001), {"listeners": "CONTROLLER://:9193"})
    assert address_of(controller) == ("10.0.0.1", 9193)


@pytest.mark.parametrize(
    ("line", "port"),
    [("10.0.0.1:2888:3999", 3999), ("[10::1]:2888:3999:participant;2181", 3999), ("", 3888), ("10.0.0.1", 3888)],
)
def test_a_server_has_the_port_for_elections_of_its_process(line: str, port: int) -> None:
    server = as_started(SERVERS[0], {"server.1": line, "server.2": "10.0.0.2:1:1"})
    assert isinstance(server, Server)
    assert server.election_port == port
