"""Which listener of a broker is asked, and how."""

from __future__ import annotations

from dataclasses import replace
from typing import cast

import pytest

from kcluster.clients import wire
from kcluster.clients.ssh import Connections
from kcluster.facts.metadata import BrokerEndpoint
from kcluster.facts.reach import Reach
from kcluster.model.running import ProcessState, Running
from tests.unit.fake_hosts import BROKERS, TRIO, Hosts

INNER = BROKERS[0].internal
LOGIN = replace(INNER, name="login", port=9094, advertised_port=9094, protocol="SASL_SSL")
BROKER = replace(BROKERS[0], listeners=(INNER, LOGIN))
CONFIG = {"security.protocol": "SASL_SSL", "sasl.password": "x"}


def behind_ssh() -> Reach:
    reach = Reach(cast(Connections, Hosts()))
    reach.learn(Running(TRIO).observed({BROKER.name: ProcessState.LISTENING}, {BROKER.name: BROKER}))
    reach.closed.add("h1")
    return reach


def test_from_its_own_host_a_broker_is_asked_where_it_needs_no_login() -> None:
    assert BrokerEndpoint.of(BROKER, CONFIG, Reach()).listener is LOGIN
    endpoint = BrokerEndpoint.of(BROKER, CONFIG, behind_ssh())
    assert (endpoint.listener, endpoint.config, endpoint.from_host) == (INNER, {}, True)
    only = replace(BROKER, listeners=(replace(LOGIN, name="internal"),))
    assert BrokerEndpoint.of(only, CONFIG, behind_ssh()).listener.protocol == "SASL_SSL"


def test_what_it_knows_comes_over_the_wire(monkeypatch: pytest.MonkeyPatch) -> None:
    part = wire.PartitionState(0, -1, (1, 2), (2,), (1,))
    told = wire.ClusterMetadata({1: "10.0.0.1:9092"}, 1, {"b": [part], "a": []})
    monkeypatch.setattr(wire, "metadata", lambda host, port, config, dial: told)
    endpoint = BrokerEndpoint.of(BROKER, {}, behind_ssh())
    found = endpoint.metadata()
    assert (found.brokers, found.controller, list(found.topics)) == ({1: "10.0.0.1:9092"}, 1, ["a", "b"])
    assert found.topics["b"].partitions[0].leader is None
    monkeypatch.setattr(wire, "min_isr", lambda host, port, names, config, dial: dict.fromkeys(names, 2))
    assert endpoint.min_isr(list(found.topics.values())) == {"a": 2, "b": 2}
    assert endpoint.min_isr([]) == {}
