"""Suggestions for misspelt names."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, names: Iterable[str], *, cutoff: float = 0.6) -> list[str]:
    """The known names most similar to this one, at most three, the best first; ignores case."""
    from difflib import get_close_matches  # lazily: needed for mistakes only

    lower = {known.lower(): known for known in names}
    return [lower[match] for match in get_close_matches(name.lower(), lower, n=3, cutoff=cutoff)]


def meant(name: str, names: Iterable[str]) -> str:
    """The known name that is probably meant; empty when none is similar enough."""
    return next(iter(nearest(name, names, cutoff=0.75)), "")
