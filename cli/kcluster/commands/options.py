"""The options that commands share, each written once."""

from __future__ import annotations

import sys
from pathlib import Path
from typing import Annotated

import typer

from kcluster import complete, show
from kcluster.errors import RefusedError, UsageError


def _remember(ctx: typer.Context, form: show.OutputFormat) -> show.OutputFormat:
    ctx.meta[show.OutputFormat] = form  # type: ignore[index]  # read once, by the root command
    return form


def _named(inventory: Path | None) -> Path | None:
    show.inventory_is(inventory)
    return inventory


Output = Annotated[
    show.OutputFormat,
    typer.Option("--output", "-o", callback=_remember, help="The form of the result on stdout; wide: all columns."),
]

Inventory = Annotated[
    Path | None,
    typer.Option(
        "--inventory",
        "-i",
        envvar="KCLUSTER_INVENTORY",
        callback=_named,
        metavar="INV",
        autocompletion=complete.inventories,
        help="The Ansible inventory: a folder or a file.",
    ),
]

Name = Annotated[
    str | None,
    typer.Option(
        "--name", "-n", metavar="NAME", autocompletion=complete.local_clusters, help="A cluster on this machine."
    ),
]

Bootstrap = Annotated[
    str | None, typer.Option("--bootstrap", "-b", metavar="HOST:PORT", help="Any Kafka cluster, without an inventory.")
]

ClientConfig = Annotated[
    Path | None,
    typer.Option("--client-config", metavar="FILE", help="Properties file of the Kafka client: security settings."),
]

Confirm = Annotated[
    str | None, typer.Option("--confirm", metavar="NAME", help="Confirm that data is deleted, by name.")
]

BecomePass = Annotated[
    bool,
    typer.Option("--ask-become-pass", "-K", help="Ask for sudo's password on the hosts; or KCLUSTER_BECOME_PASSWORD."),
]

Yes = Annotated[bool, typer.Option("--yes", "-y", help="Confirm the change without a question.")]

YesWithoutName = Annotated[bool, typer.Option("--yes", "-y", hidden=True)]
"""For commands that delete data: accepted so that the answer is what to give instead."""


Nodes = Annotated[
    list[str] | None,
    typer.Argument(metavar="HOST|NODE", autocompletion=complete.nodes, help="Only these; without, all."),
]

GateTimeout = Annotated[
    float, typer.Option("--gate-timeout", metavar="SECONDS", help="How long to wait for a gate to open.")
]

AtOnce = Annotated[
    str,
    typer.Option(
        "--at-once",
        metavar="N|rack",
        help="Restart up to N brokers together, or those of a rack, where every partition can spare all of them.",
    ),
]

UnsafePartitions = Annotated[
    bool,
    typer.Option(
        "--unsafe-partitions",
        help="Accept that partitions fall below min.insync.replicas, or the metadata quorum loses its majority.",
    ),
]


def command_line() -> list[str]:
    """The command as it was typed, for the lock and the journal of the run."""
    return ["kcluster", *sys.argv[1:]]


def confirm(question: str, *, yes: bool) -> None:
    """Ask before a change; RefusedError for no, UsageError without a terminal and without --yes."""
    if yes:
        return
    if not show.interactive():
        raise UsageError("this changes the cluster and there is no terminal to ask", resolution="add --yes")
    if show.ask(f"{question} [y/N]").lower() not in ("y", "yes"):
        raise RefusedError("not confirmed, nothing was changed")


def confirm_by_name(question: str, name: str, given: str | None = None, *, yes: bool = False) -> None:
    """Ask for a name before data is deleted; only --confirm NAME (`given`) answers. RefusedError for another name."""
    if given is None and yes:
        raise UsageError("--yes does not confirm that data is deleted", resolution=f"add --confirm {name}")
    if given is None and not show.interactive():
        raise UsageError("this deletes data and there is no terminal to ask", resolution=f"add --confirm {name}")
    if (given or show.ask(f"{question} Type {name} to confirm:")) != name:
        raise RefusedError("the name was not given, nothing was deleted")
