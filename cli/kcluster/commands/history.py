"""kcluster history."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kcluster import complete, show
from kcluster.commands.options import Inventory, Output
from kcluster.operations import history as operation
from kcluster.results import Result

app = typer.Typer(add_completion=False, rich_markup_mode=None, invoke_without_command=True)

Cluster = Annotated[
    str | None,
    typer.Option("--name", "-n", metavar="NAME", autocompletion=complete.recorded_clusters, help="The cluster's name."),
]


@app.callback()
def history(
    ctx: typer.Context,
    last: Annotated[int, typer.Option("--last", min=1, metavar="N", help="How many of the newest runs.")] = 20,
    inventory: Inventory = None,
    name: Cluster = None,
    output: Output = show.OutputFormat.TABLE,
) -> Result | None:
    """Show the runs that changed a cluster, and their steps.

    Each run with who, when and how it ended. Without a name: the only cluster there is a journal of, or one line for
    each when there are several.

    Examples:

      kcluster history -i inventories/staging

      kcluster history show 7 -i inventories/staging
    """
    return None if ctx.invoked_subcommand else operation.history(_meant(name, inventory), last)


@app.command("show")
def show_(
    ctx: typer.Context,
    number: Annotated[int, typer.Argument(metavar="N", help="The number of the run.")],
    inventory: Inventory = None,
    name: Cluster = None,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Tell one run step by step, by phase and host; `-o json` gives everything that was written down.

    Examples:

      kcluster history show 7

      kcluster history show 7 -n staging -o json
    """
    before = ctx.parent.params if ctx.parent else {}  # also `history -i INV show 7`
    return operation.show(_meant(name or before.get("name"), inventory or before.get("inventory")), number)


def _meant(name: str | None, inventory: Path | None) -> str | None:
    return name or (operation.name_in(inventory) if inventory else None)
