"""kcluster restart."""

from __future__ import annotations

from typing import TYPE_CHECKING

import typer

from kcluster import show
from kcluster.commands import options
from kcluster.context import Target
from kcluster.results import Result, counted, few

if TYPE_CHECKING:
    from collections.abc import Sequence

    from kcluster.model.node import Node

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def restart(
    nodes: options.Nodes = None,
    inventory: options.Inventory = None,
    gate_timeout: options.GateTimeout = 600.0,
    at_once: options.AtOnce = "1",
    unsafe_partitions: options.UnsafePartitions = False,
    client_config: options.ClientConfig = None,
    ask_become_pass: options.BecomePass = False,
    yes: options.Yes = False,
    output: options.Output = show.OutputFormat.TABLE,
) -> Result:
    """Restart nodes one at a time, or in safe sets, behind gates.

    Before each stop, every partition of the broker must keep min.insync.replicas in sync without it, and every other
    broker must be registered; after each start, the node must have caught up. The order: ZooKeeper servers or
    controllers with their leader last, then brokers with the controller last, then Spark. The first node that does not
    come back ends the rolling restart with a diagnosis; the other nodes serve on.

    With --at-once, brokers restart together when every partition keeps min.insync.replicas in sync without all of them:
    up to N, or those of one kafka_rack. Each set is chosen when its turn comes, from what the cluster says then, and
    the next one waits until all of it has caught up. ZooKeeper servers and controllers stay one at a time.

    Examples:

      kcluster restart -i inventories/prod

      kcluster restart -i inventories/prod kafka3.example.com

      kcluster restart -i inventories/prod broker-1 broker-2 --yes

      kcluster restart -i inventories/prod --at-once rack
    """
    from kcluster.operations import restart as operation
    from kcluster.rollout.order import AtOnce

    target = Target(inventory, client_config=client_config, ask_become=ask_become_pass)

    def confirm_restart(turns: Sequence[Sequence[Node]]) -> None:
        each = [few((f"{node.name} on {node.host.name}" for node in turn), " + ") for turn in turns]
        count = sum(map(len, turns))
        show.progress(f"{'one at a time' if len(turns) == count else f'{len(turns)} turns'}: {', '.join(each)}")
        options.confirm(f"Restart {counted(count, 'node')} of {target.remote.name}?", yes=yes)

    return operation.restart(
        target.remote,
        target.kafka.config,
        target.logins,
        nodes or [],
        gate_timeout=gate_timeout,
        unsafe_partitions=unsafe_partitions,
        at_once=AtOnce.of(at_once, target.remote.brokers),
        confirm=confirm_restart,
        progress=show.progress,
        words=options.command_line(),
    )
