"""What the tests of a group share because it is dear to make: running clusters. Each ends before the next group begins.

A cluster that nobody needs any more takes a fifth of the machine from those who do.
"""

from __future__ import annotations

from collections.abc import Callable
from contextlib import AbstractContextManager, ExitStack
from typing import Any, TypeVar

T = TypeVar("T")

_things: dict[str, Any] = {}
_ends = ExitStack()
_group = ""


def shared(name: str, make: Callable[[], AbstractContextManager[T]]) -> T:
    """The thing of this name; made for the first test of a group that asks for it."""
    if name not in _things:
        _things[name] = _ends.enter_context(make())
    thing: T = _things[name]
    return thing


def begin(group: str) -> None:
    """A test of this group is next: end what another one shared."""
    global _group
    if group != _group:
        end()
    _group = group


def end() -> None:
    """End everything that is shared."""
    _things.clear()
    _ends.close()
