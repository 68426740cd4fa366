"""kcluster status."""

from __future__ import annotations

import typer

from kcluster import local, show
from kcluster.commands.options import Inventory, Name, Output
from kcluster.operations import status as operation
from kcluster.results import Result

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def status(name: Name = None, inventory: Inventory = None, output: Output = show.Format.TABLE) -> Result:
    """Show the nodes of a cluster on this machine and whether they run; exit 4 when not all do.

    Without a name: the only cluster there is, or one line for each when there are several.

    Examples:

      kcluster status

      kcluster status -n small -o json
    """
    if name is None and inventory is None and len(local.names()) > 1:
        return operation.clusters()
    return operation.status(local.meant(name, inventory))
