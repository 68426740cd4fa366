"""`kcluster render`: the files of each host."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kcluster import complete, show
from kcluster import inventory as inventories
from kcluster.commands.options import Inventory, Output
from kcluster.errors import UsageError
from kcluster.operations import render, validate
from kcluster.results import Result

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def files(
    hosts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="HOST",
            autocompletion=complete.nodes,
            help="Hosts or nodes, such as broker1 or broker-1; default: all.",
        ),
    ] = None,
    inventory: Inventory = None,
    out: Annotated[
        Path | None,
        typer.Option(
            metavar="DIR",
            file_okay=False,
            help="Write the files to DIR/<host>/<path> instead of printing them.",
        ),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Show each configuration line with its origin and reason.")
    ] = False,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Show each file as it lands on the hosts; secrets as ********.

    Changes nothing on the hosts. A local cluster is shown with the directories and ports of `kcluster up`.
    --out writes only the files that differ, and does not touch other files in DIR.

    \b
    kcluster render -i inventories/demo
    kcluster render -i inventories/demo broker1 --explain
    kcluster render -i inventories/demo --out /tmp/demo
    """
    if inventory is None:
        raise UsageError("no inventory is given", resolution="kcluster render -i INV, or set KCLUSTER_INVENTORY")
    if out and explain:
        raise UsageError("--out and --explain cannot be used together", resolution="remove one of them")
    cluster = render.with_local_layout(validate.accepted(inventories.load(inventory)))
    if explain:
        return render.explained(cluster, hosts or ())
    return render.written(cluster, out, hosts or ()) if out else render.rendered(cluster, hosts or ())
