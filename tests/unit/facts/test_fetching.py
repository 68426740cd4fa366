"""Which followers fetch: what their hosts say, and when silence is too long."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from typing import Any, cast

from kcluster.clients.ssh import CommandResult, Connections
from kcluster.errors import KclusterError, UnreachableError
from kcluster.facts.fetching import silences
from kcluster.model.node import Layer
from tests.unit.fake_hosts import BROKERS

SLOW = replace(BROKERS[1], layers=(Layer("cluster", {"replica.fetch.wait.max.ms": "5000"}),))
ALL = (BROKERS[0], SLOW, BROKERS[2])
FETCHES = {(2, 1), (3, 1), (3, 2)}


@dataclass
class Told:
    """Hosts that answer what a test says: milliseconds by the name of the peer."""

    answers: Mapping[str, Mapping[str, int] | KclusterError]
    names: tuple[str, ...] = ("h1", "h2", "h3")

    def run(self, command: str, *, only: Iterable[str], **_: Any) -> dict[str, CommandResult | KclusterError]:
        return {name: self._answer(self.answers[name]) for name in only}

    def _answer(self, told: Mapping[str, int] | KclusterError) -> CommandResult | KclusterError:
        return told if isinstance(told, KclusterError) else CommandResult(0, f"Welcome\n{json.dumps(told)}\n", "")


def silent(hosts: Told) -> dict[tuple[int, int], float | None]:
    return silences(FETCHES, ALL, cast(Connections, hosts))


def test_a_follower_is_silent_when_it_received_nothing_for_longer_than_its_leader_waits() -> None:
    assert silent(Told({"h2": {"broker-1": 7400}, "h3": {"broker-1": 400, "broker-2": 2900}})) == {}
    late = Told({"h2": {"broker-1": 7600}, "h3": {"broker-1": 3100, "broker-2": 10}})
    assert silent(late) == {(2, 1): 7.6, (3, 1): 3.1}


def test_without_a_connection_it_does_not_fetch_and_a_silent_host_tells_nothing() -> None:
    assert silent(Told({"h2": {}, "h3": UnreachableError("h3 does not answer")})) == {(2, 1): None}
    assert silences(set(), ALL, cast(Connections, Told({}))) == {}
