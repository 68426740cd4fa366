"""`kcluster broker`: options and help of the broker commands."""

from __future__ import annotations

from typing import Annotated

import typer

from kcluster import complete, show
from kcluster.command_group import CommandGroup
from kcluster.commands.options import Bootstrap, ClientConfig, Inventory, Name, Output
from kcluster.context import Target
from kcluster.operations import broker
from kcluster.results import Result

app = typer.Typer(
    cls=CommandGroup,
    help="List brokers and their effective configuration.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


@app.command("list")
def list_(
    inventory: Inventory = None,
    name: Name = None,
    bootstrap: Bootstrap = None,
    client_config: ClientConfig = None,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """List the brokers: address, rack, which is controller, release, partitions, leaders and size of the logs.

    A broker that holds replicas but is not registered is listed as well. `-` means unknown: the broker did not answer.
    """
    return broker.listing(Target(inventory, name, bootstrap, client_config).kafka)


@app.command()
def config(
    identity: Annotated[int, typer.Argument(metavar="ID", autocompletion=complete.brokers, help="The broker's id.")],
    everything: Annotated[bool, typer.Option("--all", help="Also what is at its default.")] = False,
    inventory: Inventory = None,
    name: Name = None,
    bootstrap: Bootstrap = None,
    client_config: ClientConfig = None,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Show what counts on a broker and where it comes from: its file (static), set while running (dynamic), default.

    Secrets are shown as ********.
    """
    return broker.config(Target(inventory, name, bootstrap, client_config).kafka, identity, everything=everything)
