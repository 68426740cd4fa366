"""`kcluster topic`: options, help and questions of the topic commands.

Each command imports only its own operation: `topic list` is typed all day and must not wait for the others.
"""

from __future__ import annotations

import sys
from typing import Annotated

import typer

from kcluster import complete, show
from kcluster.command_group import CommandGroup
from kcluster.commands.options import (
    Bootstrap,
    ClientConfig,
    Confirm,
    Inventory,
    Name,
    Output,
    Yes,
    YesWithoutName,
    confirm,
    confirm_by_name,
)
from kcluster.context import Target
from kcluster.results import Result, counted

app = typer.Typer(
    cls=CommandGroup,
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
        help="A topic property; repeatable.",
    ),
]
Internal = Annotated[bool, typer.Option("--internal", help="Include Kafka's internal topics.")]
Prune = Annotated[
    bool,
    typer.Option("--prune", help="Also delete the topics and unset the properties that are not in the inventory."),
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
    """List the topics with their partitions, replication factor and state."""
    from kcluster.operations.topic.list import listing

    return listing(Target(inventory, name, bootstrap, client_config).kafka, internal=internal)


@app.command()
def describe(
    topics: Annotated[
        list[str] | None,
        typer.Argument(metavar="TOPIC", autocompletion=complete.topics, help="The topics' names; all without one."),
    ] = None,
    under_replicated: Annotated[
        bool, typer.Option("--under-replicated", help="Only partitions with a replica out of sync or offline.")
    ] = False,
    offline: Annotated[bool, typer.Option("--offline", help="Only partitions without a leader.")] = False,
    under_min_isr: Annotated[
        bool, typer.Option("--under-min-isr", help="Only partitions below min.insync.replicas, which refuse acks=all.")
    ] = False,
    at_min_isr: Annotated[
        bool,
        typer.Option("--at-min-isr", help="Only partitions that refuse acks=all as soon as one more replica is lost."),
    ] = False,
    internal: Internal = False,
    inventory: Inventory = None,
    name: Name = None,
    bootstrap: Bootstrap = None,
    client_config: ClientConfig = None,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Show each partition: leader, replicas (the preferred one first), ISR, offline replicas, racks, offsets, size.

    The properties set for a topic are listed below its name. Filters add up and include internal topics.
    """
    from kcluster.operations.topic import describe as operation

    filters = {
        operation.TopicFault.UNDER_REPLICATED: under_replicated,
        operation.TopicFault.OFFLINE: offline,
        operation.TopicFault.UNDER_MIN_ISR: under_min_isr,
        operation.TopicFault.AT_MIN_ISR: at_min_isr,
    }
    only = [fault for fault, given in filters.items() if given]
    kafka = Target(inventory, name, bootstrap, client_config).kafka
    return operation.describe(kafka, topics or (), internal=internal, only=only)


@app.command("create")
def create_(
    topics: Annotated[list[str], typer.Argument(metavar="TOPIC", help="The topics' names.")],
    partitions: Annotated[
        int | None, typer.Option("--partitions", "-p", min=1, help="Default: the brokers' num.partitions.")
    ] = None,
    replication_factor: Annotated[
        int | None,
        typer.Option("--replication-factor", "-r", min=1, help="Default: the brokers' default.replication.factor."),
    ] = None,
    config: Config = None,
    if_not_exists: Annotated[bool, typer.Option("--if-not-exists", help="Leave topics alone that exist.")] = False,
    dry_run: Annotated[
        bool, typer.Option("--dry-run", help="Show what would be created, validated by the brokers; create nothing.")
    ] = False,
    inventory: Inventory = None,
    name: Name = None,
    bootstrap: Bootstrap = None,
    client_config: ClientConfig = None,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Create topics; exit 4 with the differences when one exists.

    Several are validated by the brokers before the first one is created.

    Example: kcluster topic create orders --partitions 10 --replication-factor 3 -c retention.ms=86400000
    """
    from kcluster.clients.kafka import topic_names
    from kcluster.operations.topic import create

    kafka = Target(inventory, name, bootstrap, client_config).kafka
    settings = topic_names.settings(config or ())
    request = create.TopicRequest(topics, partitions, replication_factor, settings, if_not_exists)
    return create.plan(kafka, request) if dry_run else create.create(kafka, request)


@app.command("alter")
def alter_(
    topic: Topic,
    partitions: Annotated[
        int | None, typer.Option("--partitions", "-p", min=1, help="The new number of partitions; it can only grow.")
    ] = None,
    config: Config = None,
    unset: Annotated[
        list[str] | None,
        typer.Option(
            "--unset", metavar="KEY", help="Remove a topic property, so that the brokers' default applies; repeatable."
        ),
    ] = None,
    yes: Yes = False,
    inventory: Inventory = None,
    name: Name = None,
    bootstrap: Bootstrap = None,
    client_config: ClientConfig = None,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Add partitions to a topic, or set and unset its properties: shows the changes, asks, makes them.

    With more partitions, new records of a key go to another partition than the old ones.
    """
    from kcluster.clients.kafka import topic_names
    from kcluster.operations.topic import alter, apply

    kafka = Target(inventory, name, bootstrap, client_config).kafka
    changes = alter.alter(kafka, topic, partitions, topic_names.settings(config or ()), unset or ())
    if not changes.steps:
        return changes
    _preview(changes)
    confirm("Make these changes?", yes=yes)
    return apply.carry_out(kafka, changes, show.progress)


@app.command("delete")
def delete_(
    topics: Annotated[
        list[str], typer.Argument(metavar="TOPIC...", autocompletion=complete.topics, help="The topics' names.")
    ],
    confirmed: Confirm = None,
    yes: YesWithoutName = False,
    inventory: Inventory = None,
    name: Name = None,
    bootstrap: Bootstrap = None,
    client_config: ClientConfig = None,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Delete topics with all their records; asks for the name, in scripts --confirm NAME (several: a,b).

    Internal topics are never deleted.
    """
    from kcluster.operations.topic import delete

    target = Target(inventory, name, bootstrap, client_config)
    losses = delete.losses(target.kafka, topics)
    for topic, loss in losses.items():
        show.progress(f"deletes topic {topic} ({loss}) on {target.endpoint}")
    confirm_by_name("This cannot be undone.", ",".join(losses), confirmed, yes=yes)
    return delete.delete(target.kafka, list(losses))


@app.command("plan")
def plan_(
    prune: Prune = False,
    inventory: Inventory = None,
    name: Name = None,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Show what `apply` would change for the inventory's `kafka_topics`; changes nothing."""
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
    """Create and change topics as `kafka_topics` of the inventory declares: shows the plan, asks, makes the changes.

    Nothing is deleted without --prune, and with it only after the cluster's name was typed (--confirm in scripts).
    Partitions only grow; a different replication factor is reported and not changed.
    """
    from kcluster.operations.topic import apply, plan

    target = Target(inventory, name)
    planned = plan.plan(target.kafka, target.declared_topics, prune=prune)
    if not planned.steps:
        return planned
    _preview(planned)
    if planned.deletions:
        deleted = counted(len(planned.deletions), "topic")
        confirm_by_name(
            f"Deletes {deleted} with all records on {target.endpoint}.", target.cluster.name, confirmed, yes=yes
        )
    else:
        confirm("Make these changes?", yes=yes)
    return apply.carry_out(target.kafka, planned, show.progress)


def _preview(changes: Result) -> None:
    show.result(changes, show.OutputFormat.TABLE, out=sys.stderr)
