"""kcluster provision."""

from __future__ import annotations

import sys
from dataclasses import replace
from pathlib import Path
from typing import Annotated

import typer

from kcluster import complete, show
from kcluster.commands import options
from kcluster.context import Target
from kcluster.plan import Plan
from kcluster.results import Result

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def provision(
    inventory: options.Inventory = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            "--limit", "-l", metavar="HOST", autocompletion=complete.nodes, help="Only this host; repeatable."
        ),
    ] = None,
    plan: Annotated[
        Path | None, typer.Option("--plan", metavar="FILE", help="Do exactly this plan, without a question.")
    ] = None,
    no_smoke: Annotated[bool, typer.Option("--no-smoke", help="Skip the smoke test at the end.")] = False,
    stop_after: Annotated[
        int | None,
        typer.Option("--stop-after", metavar="N", min=1, help="Of a change in stages carry out only the first N."),
    ] = None,
    gate_timeout: options.GateTimeout = 600.0,
    at_once: options.AtOnce = "1",
    unsafe_partitions: options.UnsafePartitions = False,
    client_config: options.ClientConfig = None,
    ask_become_pass: options.BecomePass = False,
    yes: options.Yes = False,
    output: options.Output = show.OutputFormat.TABLE,
) -> Result:
    """Install or change a cluster as its inventory says, and test it.

    Validates the inventory, runs the preflight checks, shows the plan and asks. Then it writes files and releases,
    starts stopped nodes, sets dynamic config, restarts nodes that need it, waits until the cluster is healthy, changes
    topics as planned, and runs a smoke test. A new cluster starts all nodes at the same time. A live cluster is
    restarted one node at a time, or with --at-once in safe sets, each when its gate is open, the leaders last. The
    first node that does not come back ends the run with a diagnosis.

    What was shown and agreed to is what is done: when the inventory or a host has changed meanwhile, the run is refused
    and says what moved. With --plan the plan of `kcluster plan --out` is done, or what is left of it.

    What one pass cannot change safely on a live cluster is done in stages, each a whole configuration that is verified
    before the next: the listener between brokers, ports of ZooKeeper and controllers, members of ZooKeeper. With
    --stop-after it ends after some of them; the next run goes on, or back when the inventory was set back.

    It can be interrupted at any time and run again: the next run continues. An unchanged inventory changes nothing.
    Data is never deleted, and a host or disk of another node or cluster is refused.

    Examples:

      kcluster provision -i inventories/prod

      kcluster provision -i inventories/staging --yes -o json

      kcluster provision -i inventories/prod --limit kafka4.example.com

      kcluster provision -i inventories/prod --plan monday.plan
    """
    from kcluster.operations import provision as operation
    from kcluster.operations.plan import validated
    from kcluster.plan.agreed_plan import AgreedPlan
    from kcluster.rollout.order import AtOnce
    from kcluster.show.board import ProgressBoard

    target = Target(inventory, client_config=client_config, ask_become=ask_become_pass)
    task = operation.ProvisionTask(
        cluster=replace(validated(target.loaded), client=target.client),
        inventory=target.loaded.path,
        kafka=target.kafka,
        logins=target.logins,
        words=options.command_line(),
        limit=limit or (),
        gate_timeout=gate_timeout,
        at_once=AtOnce.of(at_once, target.cluster.brokers),
        unsafe_partitions=unsafe_partitions,
        smoke_test=not no_smoke,
        stop_after=stop_after,
        agreed=AgreedPlan.read(plan) if plan else None,
        become_password=target.become_password,
    )

    def confirm_plan(plan: Plan) -> None:
        show.result(plan, show.OutputFormat.TABLE, out=sys.stderr)
        options.confirm(f"Make these changes to {plan.cluster}?", yes=yes)

    with ProgressBoard() as board:
        return operation.provision(task, confirm_plan, board)
