"""Every command of the CLI, as people type it."""

from __future__ import annotations

from collections.abc import Iterator

from kcluster.app import COMMANDS, command_of


def every_command() -> Iterator[str]:
    """Each command, and each subcommand behind its group: "topic", "topic list", ..."""
    for word in COMMANDS:
        yield word
        yield from (f"{word} {below}" for below in getattr(command_of(word), "commands", {}))
