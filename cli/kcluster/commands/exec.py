"""kcluster exec."""

from __future__ import annotations

import io
import shlex
import sys
from typing import Annotated, Any

import typer
from typer.core import TyperCommand

from kcluster import complete, show
from kcluster.commands.options import BecomePass, Inventory, Output
from kcluster.context import Target
from kcluster.errors import UsageError
from kcluster.operations import exec as operation
from kcluster.results import Result

app = typer.Typer(add_completion=False, rich_markup_mode=None)

_COMMAND = "kcluster.exec.command"


class WithCommand(TyperCommand):
    """Splits the command after `--` from hosts and options before it."""

    def parse_args(self, ctx: Any, args: list[str]) -> list[str]:
        """Keep the command, and let Typer parse the rest."""
        place = args.index("--") if "--" in args else len(args)
        ctx.meta[_COMMAND] = args[place + 1 :]
        return super().parse_args(ctx, args[:place])

    def collect_usage_pieces(self, ctx: Any) -> list[str]:
        """The usage, with the command."""
        return [*super().collect_usage_pieces(ctx), "-- COMMAND..."]


@app.command(cls=WithCommand)
def exec(
    ctx: typer.Context,
    host: Annotated[
        list[str] | None,
        typer.Argument(metavar="HOST|NODE", autocompletion=complete.nodes, help="Hosts or nodes; without, all."),
    ] = None,
    become: Annotated[bool, typer.Option("--become/--no-become", help="Run it through sudo.")] = False,
    ask_become_pass: BecomePass = False,
    inventory: Inventory = None,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Run a command on the hosts of a cluster, all at once.

    Several arguments are a command with its arguments; a single one is a line for the shell of the hosts.
    Exit code 4 when the command failed on a host, 6 when a host cannot be reached.

    Examples:

      kcluster exec -i inventories/staging -- uptime

      kcluster exec -i inventories/staging h1 broker-2 --become -- journalctl -u kafka -n 20

      kcluster exec -i inventories/staging -- 'df -h /var/lib/kafka | tail -1'
    """
    words: list[str] = ctx.meta[_COMMAND]
    if not words:
        raise UsageError("no command given", resolution="write it after --: kcluster exec -i INV -- uptime")
    if isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # also into a pipe each line is written at once
    target = Target(inventory=inventory, ask_become=ask_become_pass)
    command = words[0] if len(words) == 1 else shlex.join(words)
    return operation.exec(target.remote, target.logins, host or [], command, show.progress, become=become)
