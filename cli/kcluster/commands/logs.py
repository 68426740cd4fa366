"""kcluster logs."""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

from kcluster import complete, local, show
from kcluster.commands.options import BecomePass, Inventory, Name, Output
from kcluster.context import Target
from kcluster.errors import UsageError
from kcluster.operations import logs as operation
from kcluster.results import Result

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def logs(
    node: Annotated[
        str | None,
        typer.Argument(metavar="NODE", autocompletion=complete.nodes, help="A node or a host; without, all."),
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Show new lines until Ctrl-C.")] = False,
    lines: Annotated[int, typer.Option("--lines", min=0, metavar="N", help="Number of last lines.")] = 50,
    journal: Annotated[
        bool, typer.Option("--journal", help="The systemd journal of the unit: console output, also of a failed start.")
    ] = False,
    inventory: Inventory = None,
    name: Name = None,
    ask_become_pass: BecomePass = False,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Show the last lines of the logs of a cluster.

    With several nodes, lines start with the node's name and are merged by time. On hosts, a node without a log shows
    the systemd journal of its unit.

    Examples:

      kcluster logs broker-1

      kcluster logs -f -i inventories/prod

      kcluster logs h2 --journal -i inventories/prod

      kcluster logs zookeeper-1 --lines 200 -n small
    """
    if follow and not output.for_people:
        raise UsageError("--follow has no JSON or YAML output", resolution="leave out --follow or --output")
    if follow and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # also into a pipe each line is written at once
    target = Target(inventory, name, ask_become=ask_become_pass)
    if name or not inventory or target.cluster.local:
        if journal:
            raise UsageError("a cluster on this machine has no systemd units", resolution="leave out --journal")
        return operation.logs(local.name_of(name, inventory), node, lines, follow=follow)
    return operation.remote(target.cluster, target.logins, node, lines, follow=follow, journal=journal)
