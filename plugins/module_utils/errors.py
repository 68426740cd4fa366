"""The one error that everything on a host raises."""

from __future__ import annotations


class HostRefusedError(Exception):
    """Why the host cannot or must not be changed: one sentence, and after a line break what to do."""
