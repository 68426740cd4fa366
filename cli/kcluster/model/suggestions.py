"""Misspelt names: which known one was meant."""

from __future__ import annotations

from collections.abc import Iterable


def nearest(name: str, names: Iterable[str], *, cutoff: float = 0.6) -> list[str]:
    """The known names most like this one, at most three, the best first; upper and lower case are the same."""
    from difflib import get_close_matches  # lazily: only a mistake pays for it

    lower = {known.lower(): known for known in names}
    return [lower[match] for match in get_close_matches(name.lower(), lower, n=3, cutoff=cutoff)]


def meant(name: str, names: Iterable[str]) -> str:
    """The one known name that was probably meant; empty when none is near enough to say so."""
    return next(iter(nearest(name, names, cutoff=0.75)), "")
