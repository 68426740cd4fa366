"""kcluster status."""

from __future__ import annotations

import typer

from kcluster import local, show
from kcluster.commands.options import BecomePass, Inventory, Name, Output
from kcluster.context import Target
from kcluster.operations import status as operation
from kcluster.results import Result

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def status(
    inventory: Inventory = None,
    name: Name = None,
    ask_become_pass: BecomePass = False,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Show nodes and whether they run; exit 4 when not all do.

    On hosts: the state of each systemd unit, and the role of the node in the cluster. A host that cannot be reached
    is listed with the others; exit 6 then.

    On this machine, without a name: the only cluster there is, or one line for each when there are several.

    Examples:

      kcluster status

      kcluster status -i inventories/prod

      kcluster status -n small -o json
    """
    if name is None and inventory is None and len(local.cluster_names()) > 1:
        return operation.clusters()
    target = Target(inventory, name, ask_become=ask_become_pass)
    if name or not inventory or target.cluster.local:
        return operation.status(local.name_of(name, inventory))
    return operation.remote(target.cluster, target.logins, target.spelled)
