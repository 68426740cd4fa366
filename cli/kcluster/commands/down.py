"""kcluster down."""

from __future__ import annotations

from typing import Annotated

import typer

from kcluster import local, show
from kcluster.commands.options import Confirm, Inventory, Name, Output, YesWithoutName, confirm_by_name
from kcluster.operations import down as operation
from kcluster.results import Result

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def down(
    name: Name = None,
    inventory: Inventory = None,
    delete_data: Annotated[
        bool, typer.Option("--delete-data", help="Also delete the cluster's data; asks for its name.")
    ] = False,
    confirm: Confirm = None,
    yes: YesWithoutName = False,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Stop a cluster on this machine; keeps its data.

    Brokers stop first, then the ZooKeeper servers or controllers. Only processes started by `kcluster up` are stopped.

    Examples:

      kcluster down

      kcluster down -n small --delete-data --confirm small
    """
    cluster = local.name_of(name, inventory)
    if delete_data:
        confirm_by_name(
            f"deletes cluster {cluster} and all its data in {operation.directory(cluster)}.",
            cluster,
            confirm,
            yes=yes,
        )
    return operation.down(cluster, show.progress, delete_data=delete_data)
