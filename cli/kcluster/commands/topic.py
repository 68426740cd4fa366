"""`kcluster topic`: options, help and questions of the topic commands.

Each command imports only its own operation: `topic list` is typed all day and must not wait for the others.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from kcluster import complete, show
from kcluster.commands.options import (
    Bootstrap,
    ClientConfig,
    Confirm,
    Inventory,
    Name,
    Output,
    Yes,
    confirm,
    confirm_by_name,
)
from kcluster.context import Target
from kcluster.results import Result

app = typer.Typer(
    help="List, describe, create, alter, delete, plan and apply topics.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)

Topic = Annotated[str, typer.Argument(metavar="TOPIC", autocompletion=complete.topics, help="The topic's name.")]
Config = Annotated[
    list[str] | None,
    typer.Option(
        "--config",
        "-c",
        metavar="KEY=VALUE",
        autocompletion=complete.topic_properties,
        help="A topic property; give it again for another one.",
    ),
]
Internal = Annotated[bool, typer.Option("--internal", help="Kafka's own topics as well.")]
Prune = Annotated[
    bool,
    typer.Option(
        "--prune", help="Also delete the topics and unset the properties that the inventory does not declare."
    ),
]


@app.command("list")
def list_(
    internal: Internal = False,
    inventory: Inventory = None,
    name: Name = None,
    bootstrap: Bootstrap = None,
    client_config: ClientConfig = None,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """List the topics with their numbers and a word where something is wrong."""
    from kcluster.operations.topic import describe as look

    return look.listing(Target(inventory, name, bootstrap, client_config).kafka, internal=internal)


@app.command()
def describe(
    topics: Annotated[
        list[str] | None,
        typer.Argument(metavar="[TOPIC]...", autocompletion=complete.topics, help="All when not given."),
    ] = None,
    under_replicated: Annotated[
        bool, typer.Option("--under-replicated", help="Only partitions with a replica behind or gone.")
    ] = False,
    offline: Annotated[bool, typer.Option("--offline", help="Only partitions without a leader.")] = False,
    under_min_isr: Annotated[
        bool, typer.Option("--under-min-isr", help="Only partitions that refuse acks=all.")
    ] = False,
    internal: Internal = False,
    inventory: Inventory = None,
    name: Name = None,
    bootstrap: Bootstrap = None,
    client_config: ClientConfig = None,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Show each partition: leader, replicas (the preferred one first), ISR, offline replicas, racks, offsets, size.

    Below a topic's name stand the properties that were set for it. The filters add up, and look at internal topics too.
    """
    from kcluster.operations.topic import describe as look

    asked = {
        look.TopicFault.UNDER_REPLICATED: under_replicated,
        look.TopicFault.OFFLINE: offline,
        look.TopicFault.UNDER_MIN_ISR: under_min_isr,
    }
    only = [fault for fault, wanted in asked.items() if wanted]
    kafka = Target(inventory, name, bootstrap, client_config).kafka
    return look.describe(kafka, topics or (), internal=internal, only=only)


@app.command("create")
def create_(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", help="The topic's name.")],
    partitions: Annotated[
        int | None, typer.Option("--partitions", "-p", min=1, help="Default: the brokers' num.partitions.")
    ] = None,
    replication_factor: Annotated[
        int | None, typer.Option("--replication-factor", "-r", min=1, help="Default: the brokers' own.")
    ] = None,
    config: Config = None,
    inventory: Inventory = None,
    name: Name = None,
    bootstrap: Bootstrap = None,
    client_config: ClientConfig = None,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Create a topic; one that exists already is left alone and exit code 4 says so, with the difference.

    Example: kcluster topic create orders --partitions 10 --replication-factor 3 -c retention.ms=86400000
    """
    from kcluster.clients.kafka import topic_names
    from kcluster.operations.topic import create

    kafka = Target(inventory, name, bootstrap, client_config).kafka
    return create.create(kafka, topic, partitions, replication_factor, topic_names.settings(config or ()))


@app.command("alter")
def alter_(
    topic: Topic,
    partitions: Annotated[
        int | None, typer.Option("--partitions", "-p", min=1, help="The new number; it only grows.")
    ] = None,
    config: Config = None,
    unset: Annotated[
        list[str] | None, typer.Option("--unset", metavar="KEY", help="Back to the brokers' default.")
    ] = None,
    yes: Yes = False,
    inventory: Inventory = None,
    name: Name = None,
    bootstrap: Bootstrap = None,
    client_config: ClientConfig = None,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Give a topic more partitions, or set and unset its properties: shows the change, asks, makes it.

    With more partitions the records of a key go to another partition than before.
    """
    from kcluster.clients.kafka import topic_names
    from kcluster.operations.topic import alter, apply

    kafka = Target(inventory, name, bootstrap, client_config).kafka
    wanted = alter.alter(kafka, topic, partitions, topic_names.settings(config or ()), unset or ())
    if not wanted.steps:
        return wanted
    _preview(wanted)
    confirm("Make this change?", yes=yes)
    return apply.carry_out(kafka, wanted, show.progress)


@app.command("delete")
def delete_(
    topics: Annotated[
        list[str], typer.Argument(metavar="TOPIC...", autocompletion=complete.topics, help="The topics' names.")
    ],
    confirmed: Confirm = None,
    inventory: Inventory = None,
    name: Name = None,
    bootstrap: Bootstrap = None,
    client_config: ClientConfig = None,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Delete topics with all their records: asks for the name; scripts give it with --confirm (several: a,b).

    Internal topics are never deleted.
    """
    from kcluster.operations.topic import delete

    kafka = Target(inventory, name, bootstrap, client_config).kafka
    doomed = delete.doomed(kafka, topics)
    for topic, loss in doomed:
        show.progress(f"{topic}: {loss}")
    chosen = [topic for topic, _ in doomed]
    confirm_by_name("This cannot be undone.", ",".join(chosen), confirmed)
    return delete.delete(kafka, chosen)


@app.command("plan")
def plan_(
    prune: Prune = False,
    inventory: Inventory = None,
    name: Name = None,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Show what `apply` would do to bring the inventory's `kafka_topics` into being; changes nothing."""
    from kcluster.operations.topic import plan

    target = Target(inventory, name)
    return plan.plan(target.kafka, target.declared_topics, prune=prune)


@app.command("apply")
def apply_(
    prune: Prune = False,
    yes: Yes = False,
    confirmed: Confirm = None,
    inventory: Inventory = None,
    name: Name = None,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Bring the inventory's `kafka_topics` into being: shows the plan, asks, does it; again, it does nothing.

    Nothing is deleted without --prune, and with it only after the cluster's name was given (--confirm in scripts).
    Partitions only grow; a different replication factor is reported and not changed here.
    """
    from kcluster.operations.topic import apply, plan

    target = Target(inventory, name)
    wanted = plan.plan(target.kafka, target.declared_topics, prune=prune)
    if not wanted.steps:
        return wanted
    _preview(wanted)
    if wanted.deletions:
        confirm_by_name("Topics are deleted with their data.", target.cluster.name, confirmed)
    else:
        confirm("Make these changes?", yes=yes)
    return apply.carry_out(target.kafka, wanted, show.progress)


def _preview(wanted: Result) -> None:
    show.result(wanted, show.OutputFormat.TABLE, out=sys.stderr)
