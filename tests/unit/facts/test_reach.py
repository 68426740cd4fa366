"""Where connections to the processes of a cluster are made from."""

from __future__ import annotations

import socket
from dataclasses import dataclass, field, replace
from typing import cast

import pytest

from kcluster.clients.ssh import Connections
from kcluster.errors import UnreachableError
from kcluster.facts import reach as reaching
from kcluster.facts.reach import Reach
from kcluster.model.running import ProcessState, Running
from tests.unit.fake_hosts import BROKERS, TRIO, Hosts

FIRST, SECOND = ("10.0.0.1", 9092), ("10.0.0.2", 9092)


@dataclass
class Ways:
    """Both ways to connect, and which addresses each of them reaches."""

    slow: set[tuple[str, int]] = field(default_factory=set)
    refusing: set[tuple[str, int]] = field(default_factory=set)
    hosts: set[str] = field(default_factory=lambda: {"h1", "h2", "h3"})
    lost: set[str] = field(default_factory=set)
    tried: list[str] = field(default_factory=list)

    def direct(self, host: str, port: int, within: float) -> socket.socket:
        self.tried.append(f"{host}:{port} within {within:g}")
        if (host, port) in self.slow:
            raise TimeoutError("timed out")
        if (host, port) in self.refusing:
            raise ConnectionRefusedError("refused")
        return cast(socket.socket, "direct")

    def connect(self, name: str, addresses: tuple[str, ...], port: int, within: float) -> socket.socket:
        self.tried.append(f"{name}: {addresses[0]}:{port} within {within:g}")
        if name in self.lost:
            raise UnreachableError(f"{name}: no answer")
        if name not in self.hosts:
            raise ConnectionRefusedError("Connection refused on the host itself")
        return cast(socket.socket, "relayed")


@pytest.fixture
def ways(monkeypatch: pytest.MonkeyPatch) -> Ways:
    found = Ways()
    monkeypatch.setattr(reaching, "direct", found.direct)
    return found


def over(ways: Ways, **states: ProcessState) -> Reach:
    """What reaches a cluster whose brokers were seen to listen, but for those named with underscores."""
    reach = Reach(cast(Connections, Hosts()))
    object.__setattr__(reach, "_relays", ways)
    learn(reach, **states)
    return reach


def learn(reach: Reach, **states: ProcessState) -> None:
    processes = {one.name: states.get(one.name.replace("-", "_"), ProcessState.LISTENING) for one in BROKERS}
    reach.learn(Running(TRIO).observed(processes, {}))


def test_what_this_machine_reaches_is_asked_directly(ways: Ways) -> None:
    reach = over(ways)
    assert cast(str, reach.connect(*FIRST, 4.0)) == "direct"
    assert (ways.tried, reach.closed, reach.through_host(*FIRST)) == (["10.0.0.1:9092 within 2"], set(), False)


def test_a_host_behind_a_firewall_is_waited_for_once(ways: Ways) -> None:
    ways.slow = {FIRST}
    reach = over(ways)
    assert cast(str, reach.connect(*FIRST, 4.0)) == "relayed"
    assert cast(str, reach.connect(*FIRST, 4.0)) == "relayed"
    assert ways.tried == ["10.0.0.1:9092 within 2", "h1: 127.0.0.1:9092 within 2", "h1: 127.0.0.1:9092 within 4"]
    assert reach.closed == {"h1"}


def test_a_refusal_counts_as_a_firewall_only_where_a_process_listens(ways: Ways) -> None:
    ways.refusing = {FIRST, SECOND}
    reach = over(ways, broker_2=ProcessState.STARTING)
    assert cast(str, reach.connect(*FIRST, 4.0)) == "relayed"
    with pytest.raises(ConnectionRefusedError, match=r"^refused$"):
        reach.connect(*SECOND, 4.0)
    assert reach.closed == {"h1"}


def test_what_failed_before_anything_was_seen_is_missed_and_goes_to_the_host_at_once(ways: Ways) -> None:
    ways.slow = {FIRST}
    reach = over(ways, **{one.name.replace("-", "_"): ProcessState.UNKNOWN for one in BROKERS})
    with pytest.raises(TimeoutError):
        reach.connect(*FIRST, 4.0)
    assert not reach.misses
    learn(reach, broker_1=ProcessState.NONE)
    assert not reach.misses, "it is dead"
    learn(reach)
    assert reach.misses
    assert cast(str, reach.connect(*FIRST, 4.0)) == "relayed"
    assert ways.tried == ["10.0.0.1:9092 within 4", "h1: 127.0.0.1:9092 within 4"]
    assert not reach.misses


def test_a_host_that_is_lost_is_not_asked_over_ssh_again_until_it_was_seen(ways: Ways) -> None:
    ways.slow, ways.lost = {FIRST}, {"h1"}
    reach = over(ways)
    for _ in range(2):
        with pytest.raises(OSError, match=r"no answer|timed out"):
            reach.connect(*FIRST, 4.0)
    assert ways.tried == ["10.0.0.1:9092 within 2", "h1: 127.0.0.1:9092 within 2", "10.0.0.1:9092 within 4"]
    assert reach.closed == set()


def test_a_listener_is_asked_where_it_is_bound(ways: Ways) -> None:
    broker = BROKERS[0]
    bound = replace(broker.internal, host="10.9.9.1", port=9999)
    reach = Reach(cast(Connections, Hosts()))
    object.__setattr__(reach, "_relays", ways)
    moved = replace(broker, listeners=(bound,))
    reach.learn(Running(TRIO).observed({broker.name: ProcessState.LISTENING}, {broker.name: moved}))
    ways.slow = {FIRST}
    reach.connect(*FIRST, 4.0)
    assert ways.tried[-1] == "h1: 10.9.9.1:9999 within 2"
