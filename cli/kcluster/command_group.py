"""A command with subcommands: whole sentences in its help, and the aliases that other tools have taught people."""

from __future__ import annotations

import sys
from typing import Any

from typer.core import TyperGroup

ALIASES = {"ls": "list", "rm": "delete"}
"""Other words for a subcommand, in every group that has it; help and completion do not list them."""


class CommandGroup(TyperGroup):
    """The class of every group of subcommands."""

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The subcommand of that name or alias."""
        return self.commands.get(cmd_name) or self.commands.get(ALIASES.get(cmd_name, ""))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The subcommands with their first sentences, which go on in a second line rather than be cut."""
        with formatter.section("Commands"):
            formatter.write_dl([(name, one.get_short_help_str(sys.maxsize)) for name, one in self.commands.items()])
