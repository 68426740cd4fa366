"""`kcluster smoke`: options and help of the smoke test."""

from __future__ import annotations

from typing import TYPE_CHECKING, Annotated

import typer

from kcluster import show
from kcluster.commands.options import Bootstrap, ClientConfig, Inventory, Name, Output
from kcluster.context import Target
from kcluster.results import Result

if TYPE_CHECKING:
    from kcluster.clients.ssh import Connections

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
    keep: Annotated[bool, typer.Option("--keep", help="Keep the topic for inspection.")] = False,
    timeout: Annotated[
        float, typer.Option(min=5, metavar="SECONDS", help="The time in which the test must be done.")
    ] = 25.0,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Write and read records through every listener; exit 4 on loss.

    A temporary topic has a leader on each broker. Numbered records with checksums are written with acks=all and
    idempotence, through each listener of each broker as the only bootstrap address. A consumer commits in the
    middle for its group and stops, and a second one resumes at the commits; then all records are read from the
    beginning. Every acknowledged record must be read at its offset, unchanged, once and in order, and each
    replica, read from its own broker, must have what its leader has. The topic is deleted afterwards, also after
    Ctrl-C or a failure.

    The topic has the min.insync.replicas of the brokers; with an inventory, a broker fails the test whose effective
    value (file or dynamic config) is lower than declared. What could not be tested is named in the verdict: listeners
    whose protocol the client does not speak; replicas, where the client logs in with SASL or a key store.

    ENTERED counts the records written with this address as the only bootstrap, ACKED and READ those that the
    broker led; P50 and P99 are the times until a single record was acknowledged. JSON has them as `rows`, the
    verdict as `holds`, faults of records in `verdict`, the replicas with `read_to`, `end` and `fault` as
    `replicas`, what failed as `problems`, and what was not tested as `left_out`.

    Exit code 4 when the smoke test failed; the first faults are listed.

    Example: kcluster smoke --messages 10000 -o json
    """
    from kcluster.operations import smoke as operation

    target = Target(inventory, name, bootstrap, client_config)
    cluster = None if bootstrap else target.cluster

    def hosts() -> Connections:
        from kcluster.clients.ssh import Connections  # lazily: only where no broker answers

        return Connections(target.logins)

    return operation.smoke(
        target.kafka,
        cluster,
        messages=messages,
        keep=keep,
        timeout=timeout,
        progress=show.progress,
        hosts=hosts if cluster and not cluster.local and not name else None,
    )
