"""Suggestions for unknown names."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, names: Iterable[str], *, cutoff: float = 0.6) -> list[str]:
    """The at most three most similar known names, the best first, ignoring case."""
    from difflib import get_close_matches  # lazily: needed for mistakes only

    lower = {known.lower(): known for known in names}
    return [lower[match] for match in get_close_matches(name.lower(), lower, n=3, cutoff=cutoff)]


def meant(name: str, names: Iterable[str]) -> str:
    """The most similar known name; empty when none is similar enough to suggest alone."""
    return next(iter(nearest(name, names, cutoff=0.75)), "")
