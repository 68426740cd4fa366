"""`kcluster group`: options, help and questions of the consumer group commands."""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from kcluster import complete, show
from kcluster.command_group import CommandGroup
from kcluster.commands.options import Bootstrap, ClientConfig, Inventory, Name, Output, Yes, confirm
from kcluster.context import Target
from kcluster.operations.group import delete, reset
from kcluster.operations.group import describe as operation
from kcluster.operations.group import list as listed
from kcluster.results import Result

app = typer.Typer(
    cls=CommandGroup,
    help="List, describe, reset and delete consumer groups.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

Group = Annotated[str, typer.Argument(metavar="GROUP", autocompletion=complete.groups, help="The group's name.")]


@app.command("list")
def list_(
    inventory: Inventory = None,
    name: Name = None,
    bootstrap: Bootstrap = None,
    client_config: ClientConfig = None,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """List the consumer groups with their state, members and total lag.

    A group without a committed offset has no lag: `-`.
    """
    return listed.listing(Target(inventory, name, bootstrap, client_config).kafka)


@app.command()
def describe(
    group: Group,
    inventory: Inventory = None,
    name: Name = None,
    bootstrap: Bootstrap = None,
    client_config: ClientConfig = None,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Show a group's members, their partitions, and the lag of each partition and in total.

    A partition without a committed offset has no lag: `-`.
    """
    return operation.describe(Target(inventory, name, bootstrap, client_config).kafka, group)


@app.command("reset")
def reset_(
    group: Group,
    topics: Annotated[
        list[str],
        typer.Option(
            "--topic",
            metavar="TOPIC[:0,2]",
            autocompletion=complete.topics,
            help="The topic, or some of its partitions; repeatable.",
        ),
    ],
    to: Annotated[
        str,
        typer.Option(
            "--to",
            metavar="earliest|latest|OFFSET|TIME|-N|+N",
            help="An offset, an ISO time (UTC without a zone), or N records back or forth.",
        ),
    ],
    yes: Yes = False,
    inventory: Inventory = None,
    name: Name = None,
    bootstrap: Bootstrap = None,
    client_config: ClientConfig = None,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Set the committed offsets of a group: shows the old and new one of each partition, asks, commits.

    A group with members is refused: they would overwrite the new offsets.

    Example: kcluster group reset billing --topic orders:0,2 --to 2026-01-31T12:00:00Z
    """
    kafka = Target(inventory, name, bootstrap, client_config).kafka
    planned = reset.plan(kafka, group, topics, to)
    if not planned.offsets:
        return planned
    show.result(planned, show.OutputFormat.TABLE, out=sys.stderr)
    confirm("Commit these offsets?", yes=yes)
    return reset.reset(kafka, planned)


@app.command("delete")
def delete_(
    names: Annotated[
        list[str], typer.Argument(metavar="GROUP...", autocompletion=complete.groups, help="The groups' names.")
    ],
    yes: Yes = False,
    inventory: Inventory = None,
    name: Name = None,
    bootstrap: Bootstrap = None,
    client_config: ClientConfig = None,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Delete groups with their committed offsets: shows both, asks, deletes.

    A group with members is refused. Consumers that use the name again begin where their auto.offset.reset says.
    """
    kafka = Target(inventory, name, bootstrap, client_config).kafka
    planned = delete.plan(kafka, names)
    show.result(planned, show.OutputFormat.TABLE, out=sys.stderr)
    confirm("Delete these groups?", yes=yes)
    return delete.delete(kafka, planned)
