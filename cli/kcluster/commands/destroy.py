"""kcluster destroy."""

from __future__ import annotations

import sys
from typing import TYPE_CHECKING, Annotated

import typer

from kcluster import show
from kcluster.commands import options
from kcluster.context import Target
from kcluster.results import Result

if TYPE_CHECKING:
    from kcluster.operations.destroy import Remains

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def destroy(
    inventory: options.Inventory = None,
    delete_data: Annotated[
        bool, typer.Option("--delete-data", help="Delete all data of the cluster too; asks for its name.")
    ] = False,
    confirmed: options.Confirm = None,
    ask_become_pass: options.BecomePass = False,
    yes: options.Yes = False,
    output: options.Output = show.OutputFormat.TABLE,
) -> Result:
    """Remove a cluster from its hosts; keeps its data.

    Shows what would be removed, asks, stops Spark, then the brokers, then the ZooKeeper servers or controllers, and
    removes units, programs, configuration and logs. The next `kcluster provision` continues with the data.

    With --delete-data the content of data directories of this cluster is deleted. A directory with another cluster's
    id, with foreign files or mounts in it, or behind a symbolic link is left and listed; exit 4 then. The account of
    the services stays.

    Examples:

      kcluster destroy -i inventories/staging

      kcluster destroy -i inventories/staging --delete-data --confirm staging
    """
    from kcluster.operations import destroy as operation

    target = Target(inventory, ask_become=ask_become_pass)
    name = target.remote.name

    def confirm_removal(remains: Remains) -> None:
        show.result(remains, show.OutputFormat.TABLE, out=sys.stderr)
        if delete_data:
            options.confirm_by_name(f"This deletes all data of {name} and cannot be undone.", name, confirmed, yes=yes)
        else:
            options.confirm(f"Remove {name} from its hosts? Its data stays.", yes=yes)

    return operation.destroy(
        target.remote,
        target.loaded.path,
        target.logins,
        delete_data=delete_data,
        confirm=confirm_removal,
        progress=show.progress,
        words=options.command_line(),
        become_password=target.become_password,
    )
