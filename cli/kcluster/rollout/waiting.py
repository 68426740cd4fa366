"""Waiting until a gate has no reasons left to stay closed."""

from __future__ import annotations

import time
from collections.abc import Callable, Sequence
from typing import TYPE_CHECKING, TypeVar

from kcluster.errors import KclusterError, RefusedError, UnreachableError
from kcluster.model.reason import Reason

if TYPE_CHECKING:
    from kcluster.results import Progress

T = TypeVar("T")

_POLL_SECONDS = 0.25
_PROGRESS_SECONDS = 5.0
"""Until the same kind of reasons is shown again."""
_REASONS_PER_LINE = 3


def wait(ask: Callable[[], Sequence[Reason]], progress: Progress, *, within: float, subject: str) -> tuple[Reason, ...]:
    """Block until `ask` gives no reasons or the time is over; the reasons that are left. Shows each new kind of reason.

    The time is over when nothing got on for `within` seconds. An answer that is missing is a reason; other errors of
    `ask` are raised.
    """
    began = time.monotonic()
    seen: set[str] = set()
    shown, shown_at = "", 0.0
    while reasons := _reasons(ask):
        now = time.monotonic()
        if marks := {reason.progress for reason in reasons if reason.progress} - seen:
            began, seen = now, seen | marks
        if now - began >= within:
            return tuple(reasons)
        text = _summary(reasons)
        if text != shown and (now - shown_at >= _PROGRESS_SECONDS or _kinds(text) != _kinds(shown)):
            progress(f"{subject}: waiting, {text}")
            shown, shown_at = text, now
        time.sleep(min(_POLL_SECONDS, max(0.0, within - (now - began))))
    return ()


def _reasons(ask: Callable[[], Sequence[Reason]]) -> Sequence[Reason]:
    answer = attempt(ask)
    return [Reason(answer.message)] if isinstance(answer, KclusterError) else answer


def _summary(reasons: Sequence[Reason]) -> str:
    more = len(reasons) - _REASONS_PER_LINE
    return "; ".join([*map(str, reasons[:_REASONS_PER_LINE]), *([f"{more} more"] if more > 0 else [])])


def _kinds(summary: str) -> list[str]:
    """The reasons without their partitions, which change all the time."""
    return [reason.partition(": ")[0] for reason in summary.split("; ")]


def attempt(ask: Callable[[], T]) -> T | KclusterError:
    """The answer, or why there is none; a client configuration that is refused is raised."""
    try:
        return ask()
    except (UnreachableError, RefusedError) as problem:
        return problem
