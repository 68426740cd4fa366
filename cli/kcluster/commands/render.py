"""`kcluster render`: every file as it will land on the hosts."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kcluster import complete, show
from kcluster import inventory as inventories
from kcluster.commands.options import Inventory, Output
from kcluster.errors import UsageError
from kcluster.operations import render
from kcluster.results import Result

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def files(
    hosts: Annotated[
        list[str] | None,
        typer.Argument(
            metavar="HOST",
            autocompletion=complete.nodes,
            help="Hosts or nodes (broker1, broker-1); all when none is named.",
        ),
    ] = None,
    inventory: Inventory = None,
    out: Annotated[
        Path | None,
        typer.Option(metavar="DIR", file_okay=False, help="Write them as DIR/<host>/<path> instead of printing them."),
    ] = None,
    explain: Annotated[
        bool, typer.Option("--explain", help="Say of each line of the configuration where it comes from and why.")
    ] = False,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Show every file as it will land on the hosts, byte for byte; secrets as ********.

    A cluster on this machine is shown with the folders and ports that `kcluster up` gives it.

    Nothing is changed anywhere. With --out only the files that differ are written,
    and other files in the folder are left alone.

    \b
    kcluster render -i inventories/demo
    kcluster render -i inventories/demo broker1 --explain
    kcluster render -i inventories/demo --out /tmp/demo
    """
    if inventory is None:
        raise UsageError("this needs an inventory", resolution="kcluster render -i INV")
    if out and explain:
        raise UsageError("--out and --explain exclude each other", resolution="leave one of them out")
    cluster = render.as_placed(inventories.read(inventory))
    if explain:
        return render.explained(cluster, hosts or ())
    return render.written(cluster, out, hosts or ()) if out else render.rendered(cluster, hosts or ())
