"""kcluster start."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from kcluster import show
from kcluster.commands import options
from kcluster.context import Target
from kcluster.results import Result

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcluster.model.node import Node

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def start(
    nodes: options.Nodes = None,
    inventory: options.Inventory = None,
    gate_timeout: options.GateTimeout = 600.0,
    client_config: options.ClientConfig = None,
    ask_become_pass: options.BecomePass = False,
    yes: options.Yes = False,
    output: options.Output = show.OutputFormat.TABLE,
) -> Result:
    """Start the stopped nodes of a cluster.

    All ZooKeeper servers or controllers start at the same time, then all brokers; waits until they serve.
    A node that does not start ends the command with a diagnosis.

    Examples:

      kcluster start -i inventories/prod

      kcluster start -i inventories/prod kafka3.example.com --yes
    """
    from kcluster.operations import start as operation

    target = Target(inventory, client_config=client_config, ask_become=ask_become_pass)

    def confirm_start(stopped: Sequence[Node]) -> None:
        options.confirm(f"Start {', '.join(node.name for node in stopped)} of {target.remote.name}?", yes=yes)

    return operation.start(
        target.remote,
        target.kafka.config,
        target.logins,
        nodes or [],
        gate_timeout=gate_timeout,
        confirm=confirm_start,
        progress=show.progress,
        words=options.command_line(),
    )
