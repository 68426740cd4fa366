"""kcluster start."""

from __future__ import annotations

import sys

import typer

from kcluster import show
from kcluster.commands.options import BecomePass, ClientConfig, GateTimeout, Inventory, Nodes, Output, Yes, confirm
from kcluster.context import Target
from kcluster.results import Result

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def start(
    nodes: Nodes = None,
    inventory: Inventory = None,
    gate_timeout: GateTimeout = 600.0,
    client_config: ClientConfig = None,
    ask_become_pass: BecomePass = False,
    yes: Yes = False,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Start the nodes of a cluster that do not run.

    All keepers of the metadata start at the same time, then all brokers, and it waits until they serve.
    A node that does not start ends it, with the reason.

    Examples:

      kcluster start -i inventories/prod

      kcluster start -i inventories/prod kafka3.example.com --yes
    """
    from kcluster.clients.ssh import Connections
    from kcluster.operations import start as operation
    from kcluster.rollout.gates import Gates

    target = Target(inventory, client_config=client_config, ask_become=ask_become_pass)
    with Connections(target.logins) as hosts:
        gates = Gates(target.remote, target.kafka.config, patience=gate_timeout, hosts=hosts)
        starts = operation.plan(gates, nodes or [], hosts)
        if starts.idle:
            confirm(f"Start {', '.join(node.name for node in starts.idle)} of {gates.cluster.name}?", yes=yes)
        return operation.start(gates, starts, hosts, show.progress, ["kcluster", *sys.argv[1:]])
