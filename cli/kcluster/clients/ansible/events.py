"""The events of a playbook, its outcome, and the error that follows from failed events."""

from __future__ import annotations

import json
import re
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from enum import StrEnum
from typing import Any

from kcluster.errors import ApplyError, KclusterError, UnreachableError

_SUDO = re.compile(
    r"(missing|incorrect) \w+ password|(password|terminal) is required|not in the sudoers", re.IGNORECASE
)
_WRAPPING = re.compile(r"^Task failed: |\s*Make sure this host can be reached over ssh:\s*$")
"""Text of Ansible around the reason."""


class TaskStatus(StrEnum):
    """How far a task is on a host."""

    STARTED = "started"
    OK = "ok"
    CHANGED = "changed"
    FAILED = "failed"
    UNREACHABLE = "unreachable"
    SKIPPED = "skipped"


@dataclass(frozen=True)
class Event:
    """One task on one host: it began, or it ended."""

    host: str
    task: str
    """The sentence the task is named with."""
    status: TaskStatus
    message: str = ""
    diff: str = ""
    facts: Mapping[str, Any] = field(default_factory=dict)
    """What the module returned besides: `restart_needed`, `started`, ..."""
    time: float = 0.0
    """Seconds since 1970."""

    @classmethod
    def parse(cls, line: str | bytes) -> Event:
        """An event as plugins/callback/events.py writes it."""
        fields = json.loads(line)
        return cls(**{**fields, "status": TaskStatus(fields["status"])})


@dataclass(frozen=True)
class PlaybookOutcome:
    """A playbook that ran to its end: every task of every host, in the order they ended."""

    events: tuple[Event, ...]
    seconds: float

    @property
    def changed(self) -> tuple[Event, ...]:
        """The tasks that changed something (in check mode: that would have)."""
        return tuple(event for event in self.events if event.status is TaskStatus.CHANGED)

    def facts(self, name: str) -> dict[str, Any]:
        """A fact that modules returned, by host; the last one counts."""
        return {event.host: event.facts[name] for event in self.events if name in event.facts}


def failure(events: Sequence[Event]) -> KclusterError | None:
    """The error of failed events, None without any: unreachable hosts come before failed tasks."""
    unreachable = [event for event in events if event.status is TaskStatus.UNREACHABLE]
    failed = [event for event in events if event.status is TaskStatus.FAILED]
    if unreachable:
        return _unreachable([*unreachable, *failed])
    if failed and all(_SUDO.search(event.message) for event in failed):
        return _no_sudo(failed)
    return _failed(failed) if failed else None


def _unreachable(events: Sequence[Event]) -> KclusterError:
    first = events[0]
    reason = _WRAPPING.sub("", first.message) or "ssh gave no reason"
    return UnreachableError(
        f"{first.host} cannot be reached: {reason}",
        details=_others(events),
        resolution=f"ssh {first.host} true  (with the user, port and key of the inventory)",
    )


def _no_sudo(events: Sequence[Event]) -> KclusterError:
    first = events[0]
    return UnreachableError(
        f"{first.host}: may not become root: {first.message}",
        details=_others(events),
        resolution="give the sudo password with -K, or allow sudo without one",
    )


def _failed(events: Sequence[Event]) -> KclusterError:
    """The first line is the error; a line that begins with `try: ` is what to do, as everywhere in kcluster."""
    first, *rest = events[0].message.splitlines() or [""]
    advice = next((line.removeprefix("try: ") for line in rest if line.startswith("try: ")), "")
    details = [line for line in rest if line != f"try: {advice}"]
    return ApplyError(
        f"{events[0].host}: {events[0].task}: {first}",
        details="\n".join(filter(None, [*details, _others(events)])),
        resolution=advice or ("install python3 there" if "interpreter" in first else ""),
    )


def _others(events: Sequence[Event]) -> str:
    return "\n".join(f"{event.host}: {event.task}: {event.message}" for event in events[1:])
