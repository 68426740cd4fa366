"""kcluster stop."""

from __future__ import annotations

import sys

import typer

from kcluster import show
from kcluster.commands.options import (
    BecomePass,
    ClientConfig,
    GateTimeout,
    Inventory,
    Nodes,
    Output,
    UnsafePartitions,
    Yes,
    confirm,
)
from kcluster.context import Target
from kcluster.results import Result

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def stop(
    nodes: Nodes = None,
    inventory: Inventory = None,
    gate_timeout: GateTimeout = 600.0,
    unsafe_partitions: UnsafePartitions = False,
    client_config: ClientConfig = None,
    ask_become_pass: BecomePass = False,
    yes: Yes = False,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Stop nodes of a cluster in order; their data stays.

    Without names the whole cluster goes down: all brokers, then the keepers of the metadata. Named nodes stop only
    when the others can do without them, as before a restart.

    Examples:

      kcluster stop -i inventories/prod kafka3.example.com

      kcluster stop -i inventories/staging --yes
    """
    from kcluster.clients.ssh import Connections
    from kcluster.operations import stop as operation
    from kcluster.rollout.gates import Gates

    target = Target(inventory, client_config=client_config, ask_become=ask_become_pass)
    with Connections(target.logins) as hosts:
        gates = Gates(
            target.remote, target.kafka.config, unsafe_too=unsafe_partitions, patience=gate_timeout, hosts=hosts
        )
        stops = operation.plan(gates, nodes or [], hosts)
        if stops.nodes:
            confirm(stops.question(gates.cluster.name), yes=yes)
        return operation.stop(gates, stops, hosts, show.progress, ["kcluster", *sys.argv[1:]])
