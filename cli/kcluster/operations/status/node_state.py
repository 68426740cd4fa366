"""The state of a node whose process runs: whether it starts, serves, or has stopped serving."""

from __future__ import annotations

from collections.abc import Collection, Mapping

from kcluster.clients.zookeeper import NO_QUORUM

SERVING = "running"
STARTING = "starting"
NOT_ANSWERING = "not answering"
NOT_SERVING = "not serving"


def state_of(role: str | None, *, started: bool) -> str:
    """The state that follows from a node's role, None without an answer, and whether its process has ever started."""
    if role is None:
        return NOT_ANSWERING if started else STARTING
    return NOT_SERVING if role == NO_QUORUM else SERVING


def remedy(states: Collection[str], remedies: Mapping[str, tuple[str, ...]], spelled: str) -> str:
    """The commands for nodes that do not run: `remedies` has the states that each is for."""
    matching = (command for command, of_states in remedies.items() if set(of_states) & set(states))
    return "    ".join(f"{command} {spelled}" for command in matching)
