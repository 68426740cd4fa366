"""kcluster provision."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Annotated

import typer

from kcluster import complete, show
from kcluster.commands.options import (
    BecomePass,
    ClientConfig,
    GateTimeout,
    Inventory,
    Output,
    UnsafePartitions,
    Yes,
    confirm,
)
from kcluster.context import Target
from kcluster.plan import Plan
from kcluster.results import Result

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def provision(
    inventory: Inventory = None,
    limit: Annotated[
        list[str] | None,
        typer.Option(
            "--limit", "-l", metavar="HOST", autocompletion=complete.nodes, help="Only this host; repeatable."
        ),
    ] = None,
    no_smoke: Annotated[bool, typer.Option("--no-smoke", help="Leave out the proof at the end.")] = False,
    gate_timeout: GateTimeout = 600.0,
    unsafe_partitions: UnsafePartitions = False,
    client_config: ClientConfig = None,
    ask_become_pass: BecomePass = False,
    yes: Yes = False,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Bring the hosts to what the inventory says, and prove the cluster.

    Validates the inventory, checks every host, shows the plan and asks; then writes what is missing, starts what does
    not run, restarts what must be restarted, waits until the cluster is healthy, changes topics as the plan showed it
    and proves with real messages that nothing acknowledged is lost. A fresh cluster starts all at once. A live cluster
    is never restarted in parallel: one node at a time, each only when it is safe, the leaders last; settings that Kafka
    takes while it runs need no restart. The first node that does not come back ends the run, with the reason.

    It can be interrupted anywhere, and run again: the next run repairs what was left. An unchanged inventory changes
    nothing. Data is never deleted, and a host or disk of another node or cluster is refused.

    Examples:

      kcluster provision -i inventories/prod

      kcluster provision -i inventories/staging --yes -o json

      kcluster provision -i inventories/prod --limit kafka4.example.com
    """
    from kcluster.clients.ssh import Connections
    from kcluster.operations import provision as operation
    from kcluster.operations.plan import accepted
    from kcluster.rollout.gates import Gates
    from kcluster.show.board import ProgressBoard

    target = Target(inventory, client_config=client_config, ask_become=ask_become_pass)
    cluster = replace(accepted(target.loaded), client=target.client)
    hosts_meant = operation.known_hosts(cluster, limit or ())

    def agree(plan: Plan) -> None:
        show.result(plan, show.OutputFormat.TABLE, out=sys.stderr)
        confirm(f"Make these changes to {cluster.name}?", yes=yes)

    with Connections(target.logins) as hosts, ProgressBoard() as board:
        task = operation.Task(
            inventory=target.loaded.path,
            cluster=cluster,
            gates=Gates(cluster, target.kafka.config, unsafe_too=unsafe_partitions, patience=gate_timeout, hosts=hosts),
            kafka=target.kafka,
            words=["kcluster", *sys.argv[1:]],
            limit=hosts_meant,
            prove=not no_smoke,
            become_password=target.become_password,
        )
        return operation.provision(task, hosts, agree, board)
