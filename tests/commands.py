"""Every command of the CLI, as people type it."""

from __future__ import annotations

from collections.abc import Iterator
from importlib import import_module

import typer

from kcluster.app import COMMANDS


def every_command() -> Iterator[str]:
    """Each command, and each subcommand behind its group: "topic", "topic list", ..."""
    for word in COMMANDS:
        yield word
        group = typer.main.get_command(import_module(f"kcluster.commands.{word}").app)
        yield from (f"{word} {below}" for below in getattr(group, "commands", {}))
