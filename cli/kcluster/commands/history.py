"""kcluster history."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kcluster import complete, show
from kcluster.command_group import CommandGroup
from kcluster.commands.options import Inventory, Output
from kcluster.operations import history as operation
from kcluster.results import Result

app = typer.Typer(cls=CommandGroup, add_completion=False, rich_markup_mode=None, invoke_without_command=True)

Cluster = Annotated[
    str | None,
    typer.Option("--name", "-n", metavar="NAME", autocompletion=complete.recorded_clusters, help="The cluster's name."),
]


@app.callback()
def history(
    ctx: typer.Context,
    last: Annotated[int, typer.Option("--last", min=1, metavar="N", help="Number of newest runs.")] = 20,
    inventory: Inventory = None,
    name: Cluster = None,
    output: Output = show.OutputFormat.TABLE,
) -> Result | None:
    """Show the runs that changed a cluster, and their steps.

    Each run with its user, time and outcome. Without a name: the runs of the only cluster with a journal, or one line
    for each of several clusters.

    Examples:

      kcluster history -i inventories/staging

      kcluster history show 7 -i inventories/staging
    """
    if ctx.invoked_subcommand:
        return None
    return operation.history_of(inventory, last) if inventory and not name else operation.history(name, last)


@app.command("show")
def show_(
    ctx: typer.Context,
    number: Annotated[int, typer.Argument(metavar="N", help="The number of the run.")],
    inventory: Inventory = None,
    name: Cluster = None,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Show one run step by step, by phase and host; `-o json` has every line of the journal.

    Examples:

      kcluster history show 7

      kcluster history show 7 -n staging -o json
    """
    before = ctx.parent.params if ctx.parent else {}  # also `history -i INV show 7`
    return operation.show(_cluster(name or before.get("name"), inventory or before.get("inventory")), number)


def _cluster(name: str | None, inventory: Path | None) -> str | None:
    return name or (operation.name_in(inventory) if inventory else None)
