"""kcluster ok-to-stop."""

from __future__ import annotations

from typing import Annotated

import typer

from kcluster import complete, show
from kcluster.commands import options
from kcluster.context import Target
from kcluster.results import Result

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def ok_to_stop(
    nodes: Annotated[
        list[str], typer.Argument(metavar="HOST|NODE", autocompletion=complete.nodes, help="What is to stop together.")
    ],
    most: Annotated[
        int | None, typer.Option("--max", min=1, help="The most hosts or nodes in the safe set that is shown.")
    ] = None,
    inventory: options.Inventory = None,
    client_config: options.ClientConfig = None,
    ask_become_pass: options.BecomePass = False,
    output: options.Output = show.OutputFormat.TABLE,
) -> Result:
    """Judge if hosts or nodes may stop together now; exit 4 if not.

    For other tools that stop hosts, to patch the operating system. It asks what `stop` asks, once: every partition must
    keep min.insync.replicas in sync without these brokers, every other broker must be registered, and every other
    ZooKeeper server or controller in sync. It takes no lock and changes nothing. The answer is that of this moment: ask
    again before the next host, when the last one is back.

    It shows a safe set as well: what is named, and what else may stop together with it, in the same rack first. When
    only hosts are named the set is of hosts, else of nodes of the same kinds. No other can be added to it; with --max
    it ends earlier. Nodes of Spark may always stop; the set is not grown by them.

    Exit code 4 when they may not stop, with the reasons; 6 when a named host does not answer.

    Examples:

      kcluster ok-to-stop -i inventories/prod kafka3.example.com && ssh kafka3.example.com reboot

      kcluster ok-to-stop -i inventories/prod broker-1 broker-2 --max 10 -o json
    """
    from kcluster.operations import ok_to_stop as operation

    target = Target(inventory, client_config=client_config, ask_become=ask_become_pass)
    return operation.ok_to_stop(target.remote, target.kafka.config, target.logins, nodes, most=most)
