"""kcluster stop."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from kcluster import show
from kcluster.commands import options
from kcluster.context import Target
from kcluster.results import Result

if TYPE_CHECKING:
    from kcluster.operations.stop import StopPlan

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def stop(
    nodes: options.Nodes = None,
    inventory: options.Inventory = None,
    gate_timeout: options.GateTimeout = 600.0,
    unsafe_partitions: options.UnsafePartitions = False,
    client_config: options.ClientConfig = None,
    ask_become_pass: options.BecomePass = False,
    yes: options.Yes = False,
    output: options.Output = show.OutputFormat.TABLE,
) -> Result:
    """Stop nodes of a cluster in order; their data stays.

    Without names the whole cluster stops: all brokers, then the ZooKeeper servers or controllers. Named nodes stop
    only when their gate is open, as before a restart.

    Examples:

      kcluster stop -i inventories/prod kafka3.example.com

      kcluster stop -i inventories/staging --yes
    """
    from kcluster.operations import stop as operation

    target = Target(inventory, client_config=client_config, ask_become=ask_become_pass)

    def confirm_stop(stops: StopPlan) -> None:
        options.confirm(stops.question(target.remote.name), yes=yes)

    return operation.stop(
        target.remote,
        target.kafka.config,
        target.logins,
        nodes or [],
        gate_timeout=gate_timeout,
        unsafe_partitions=unsafe_partitions,
        confirm=confirm_stop,
        progress=show.progress,
        words=options.command_line(),
    )
