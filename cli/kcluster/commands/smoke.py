"""`kcluster smoke`: prove with real messages that nothing acknowledged is lost."""

from __future__ import annotations

from typing import Annotated

import typer

from kcluster import show
from kcluster.commands.options import Bootstrap, ClientConfig, Inventory, Name, Output
from kcluster.context import Target
from kcluster.results import Result

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def smoke(
    inventory: Inventory = None,
    name: Name = None,
    bootstrap: Bootstrap = None,
    client_config: ClientConfig = None,
    messages: Annotated[
        int, typer.Option(min=1, max=1_000_000, metavar="N", help="About how many records to write.")
    ] = 1000,
    keep: Annotated[bool, typer.Option("--keep", help="Keep the topic, to look into it.")] = False,
    timeout: Annotated[
        float, typer.Option(min=5, metavar="SECONDS", help="The time in which the proof must be done.")
    ] = 25.0,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Prove with real messages that nothing acknowledged is lost.

    A throw-away topic gets a leader on each broker. Numbered, checksummed records are written with acks=all and
    idempotence, with each broker alone as bootstrap address and through each listener; a consumer stops in the
    middle and commits for its group, and a second one goes on from the group's commits; then everything is read
    again from the beginning. Every acknowledged record must be there, at its offset, unchanged, once and in
    order. The topic is removed also after Ctrl-C or a failure.

    ENTERED counts the records that came in with this address as the only bootstrap, ACKED and SEEN those that
    the broker led; P50 and P99 are the times until a single record was acknowledged.

    Exit code 4 when it does not hold; the first missing records are named.

    Example: kcluster smoke --messages 10000 -o json
    """
    from kcluster.operations import smoke as operation

    target = Target(inventory, name, bootstrap, client_config)
    brokers = () if bootstrap else target.cluster.brokers
    return operation.smoke(target.kafka, brokers, messages=messages, keep=keep, timeout=timeout, progress=show.progress)
