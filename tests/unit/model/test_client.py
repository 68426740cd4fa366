"""What clients say, and by which listener they come in."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kcluster.local import topology
from kcluster.local.cluster_record import UpOrigin
from kcluster.model.client import Client, suited
from kcluster.model.listener import Listener
from kcluster.rules.network import client_protocol_served


def door(name: str, port: int, protocol: str) -> Listener:
    return Listener(name=name, port=port, protocol=protocol, advertised_host="h", advertised_port=port)


(FIRST,) = topology.cluster_of("c", UpOrigin(brokers=1), "").brokers
DOORS = (door("outside", 1, "SASL_SSL"), door("internal", 2, "PLAINTEXT"), door("more", 3, "PLAINTEXT"))
BROKER = replace(FIRST, listeners=DOORS)
CLUSTER = replace(topology.cluster_of("c", UpOrigin(brokers=1), ""), brokers=(BROKER,))


@pytest.mark.parametrize(("protocol", "port"), [("PLAINTEXT", 2), ("SASL_SSL", 1), ("SSL", 2)])
def test_client_protocol_served_where_their_protocol_is_spoken_and_the_internal_listener_comes_first(
    protocol: str, port: int
) -> None:
    assert BROKER.listener_for(protocol).port == port
    assert CLUSTER.bootstrap_for(protocol) == f"h:{port}"


@pytest.mark.parametrize(("written", "port"), [({}, 2), ({"security.protocol": "sasl_ssl"}, 1)])
def test_the_bootstrap_line_is_the_one_for_the_clients_of_the_inventory(written: dict[str, str], port: int) -> None:
    assert replace(CLUSTER, client=Client(written)).bootstrap == f"h:{port}"


def test_a_protocol_that_no_listener_speaks_is_found() -> None:
    client = Client({"security.protocol": "SSL"}, "kafka_client_properties")
    (found,) = client_protocol_served(replace(CLUSTER, client=client))
    assert "kafka_client_properties: security.protocol is SSL" in found.message
    assert not list(client_protocol_served(replace(CLUSTER, client=Client({"client.id": "a"}))))


def test_files_are_beside_the_inventory() -> None:
    written = {"ssl.truststore.location": "ca.pem", "ssl.keystore.location": "/etc/me.pem", "client.id": "a"}
    assert Client(written, "word").beside(Path("/inventories/prod")).written == {
        "ssl.truststore.location": "/inventories/prod/ca.pem",
        "ssl.keystore.location": "/etc/me.pem",
        "client.id": "a",
    }


@pytest.mark.parametrize(
    ("protocol", "expected"),
    [
        ("SASL_SSL", {"security.protocol": "SASL_SSL", "sasl.username": "u", "ssl.ca.location": "/ca"}),
        ("SASL_PLAINTEXT", {"security.protocol": "SASL_PLAINTEXT", "sasl.username": "u"}),
        ("SSL", {"security.protocol": "SSL", "ssl.ca.location": "/ca"}),
        ("PLAINTEXT", {"security.protocol": "PLAINTEXT"}),
    ],
)
def test_a_listener_gets_the_properties_that_it_has_use_for(protocol: str, expected: dict[str, str]) -> None:
    properties = {"security.protocol": "SASL_SSL", "sasl.username": "u", "ssl.ca.location": "/ca"}
    assert suited(properties, protocol) == expected


def test_nobody_logs_in_without_a_login() -> None:
    assert suited({"client.id": "me"}, "SASL_SSL") == {"client.id": "me"}
