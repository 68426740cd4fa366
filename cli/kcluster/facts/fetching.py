"""Which followers fetch from their leaders now, as the kernels of their hosts see it."""

from __future__ import annotations

import json
from collections.abc import Collection, Mapping, Sequence
from typing import TYPE_CHECKING

from kcluster.clients import host_scripts
from kcluster.config import file_paths
from kcluster.errors import KclusterError

if TYPE_CHECKING:
    from kcluster.clients.ssh import Connections
    from kcluster.model.broker import Broker


SILENCE = 2.5
"""Seconds without anything, beyond the time that a leader waits for news, after which a follower does not fetch."""
_WAIT, _DEFAULT_WAIT_MS = "replica.fetch.wait.max.ms", 500
"""How long a follower lets its leader wait when nothing is new."""


def silences(
    fetches: Collection[tuple[int, int]], brokers: Sequence[Broker], hosts: Connections
) -> dict[tuple[int, int], float | None]:
    """Of these followers and leaders the pairs whose follower received nothing for too long: the seconds, by both ids.

    None where there is no connection. A follower whose host does not answer is left out.
    """
    followers = [each for each in brokers if each.host.name in hosts.names and each.id in {pair[0] for pair in fetches}]
    leaders = [each for each in brokers if each.id in {pair[1] for pair in fetches}]
    scripts = {follower.host.name: _program(follower, leaders) for follower in followers}
    answers = hosts.run(host_scripts.COMMAND, stdin=scripts, only=list(scripts), become=True) if scripts else {}
    found: dict[tuple[int, int], float | None] = {}
    for follower in followers:
        answer = answers[follower.host.name]
        if isinstance(answer, KclusterError) or answer.code:
            continue
        received: Mapping[str, int] = json.loads(answer.stdout.splitlines()[-1])  # a login may greet with lines before
        for leader in leaders:
            milliseconds = received.get(leader.name)
            found[follower.id, leader.id] = None if milliseconds is None else milliseconds / 1000
    longest = {follower.id: _longest(follower) for follower in followers}
    return {
        pair: since for pair, since in found.items() if pair in fetches and (since is None or since > longest[pair[0]])
    }


def _longest(follower: Broker) -> float:
    """The longest silence in seconds of a follower that fetches."""
    return SILENCE + float(follower.set_by_hand().get(_WAIT, _DEFAULT_WAIT_MS)) / 1000


def _program(broker: Broker, peers: Sequence[Broker]) -> str:
    # Whichever the follower uses: while the listener between brokers changes, not all use the same.
    places = {peer.name: [[each.advertised_host, each.advertised_port] for each in peer.listeners] for peer in peers}
    return host_scripts.program("fetching", {"unit": file_paths.UNITS[broker.kind], "peers": places})
