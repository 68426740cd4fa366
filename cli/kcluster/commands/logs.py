"""kcluster logs."""

from __future__ import annotations

import io
import sys
from typing import Annotated

import typer

from kcluster import complete, local, show
from kcluster.commands.options import Inventory, Name, Output
from kcluster.errors import UsageError
from kcluster.operations import logs as operation
from kcluster.results import Result

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def logs(
    node: Annotated[
        str | None,
        typer.Argument(
            metavar="[NODE]", autocompletion=complete.nodes, help="A node or a host; all nodes if not given."
        ),
    ] = None,
    follow: Annotated[bool, typer.Option("--follow", "-f", help="Go on with new lines until Ctrl-C.")] = False,
    lines: Annotated[int, typer.Option("--lines", min=0, metavar="N", help="How many of the last lines.")] = 50,
    name: Name = None,
    inventory: Inventory = None,
    output: Output = show.Format.TABLE,
) -> Result:
    """Show the last lines of the logs of a cluster on this machine.

    Examples:

      kcluster logs broker-1

      kcluster logs -f

      kcluster logs zookeeper-1 --lines 200 -n small
    """
    if follow and output is not show.Format.TABLE:
        raise UsageError("lines that never end make no JSON or YAML", resolution="leave out --follow or --output")
    if follow and isinstance(sys.stdout, io.TextIOWrapper):
        sys.stdout.reconfigure(line_buffering=True)  # also into a pipe a line is there as soon as it is written
    return operation.logs(local.meant(name, inventory), node, lines, follow=follow)
