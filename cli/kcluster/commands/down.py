"""kcluster down."""

from __future__ import annotations

from typing import Annotated

import typer

from kcluster import local, show
from kcluster.commands.options import Confirm, Inventory, Name, Output, confirm_by_name
from kcluster.operations import down as operation
from kcluster.results import Result

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def down(
    name: Name = None,
    inventory: Inventory = None,
    delete_data: Annotated[
        bool, typer.Option("--delete-data", help="Delete the cluster and all its data; asks for its name.")
    ] = False,
    confirm: Confirm = None,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Stop a cluster on this machine; its data stays.

    The brokers stop first, then the keepers of the metadata. Only processes that `kcluster up` started are ended.

    Examples:

      kcluster down

      kcluster down -n small --delete-data --confirm small
    """
    meant = local.meant(name, inventory)
    if delete_data:
        confirm_by_name(f"This deletes all data of {meant} in {operation.directory(meant)}.", meant, confirm)
    return operation.down(meant, show.progress, delete_data=delete_data)
