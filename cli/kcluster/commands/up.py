"""kcluster up."""

from __future__ import annotations

import signal
from typing import Annotated

import typer

from kcluster import show
from kcluster.commands.options import Inventory, Name, Output
from kcluster.local.up_request import UpRequest
from kcluster.operations import up as operation
from kcluster.results import Result

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def up(
    inventory: Inventory = None,
    name: Name = None,
    brokers: Annotated[int | None, typer.Option(min=1, max=99, metavar="N", help="How many brokers. [3]")] = None,
    zookeepers: Annotated[
        int | None, typer.Option(min=1, max=99, metavar="N", help="How many ZooKeeper servers, an odd number. [3]")
    ] = None,
    kraft: Annotated[bool, typer.Option("--kraft", help="KRaft controllers instead of ZooKeeper.")] = False,
    controllers: Annotated[
        int | None, typer.Option(min=1, max=99, metavar="N", help="How many KRaft controllers, an odd number. [3]")
    ] = None,
    kafka_version: Annotated[
        str | None, typer.Option(metavar="VERSION", help="The Kafka version, when there is no inventory.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be started, and change nothing.")] = False,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Start a cluster on this machine, or repair what is missing of it.

    The cluster runs on after the command; `kcluster down` stops it and keeps its data. With an inventory it has the
    same nodes and settings as on real hosts, but on 127.0.0.1, with ports that are free and a small heap; one that
    `kcluster validate` refuses is refused here too. A second `up` starts what does not run and changes nothing else.

    Examples:

      kcluster up

      kcluster up -i inventories/local

      kcluster up --name small --brokers 1 --zookeepers 1

      kcluster up --name kraft --kraft --kafka-version 4.2.0
    """
    wish = UpRequest(inventory, name, brokers, zookeepers, controllers, kraft, kafka_version)
    if dry_run:
        return operation.plan(wish)
    for ending in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(ending) is not signal.SIG_IGN:  # as it is under nohup
            signal.signal(ending, signal.default_int_handler)  # as Ctrl-C: nothing is left half-running
    return operation.up(wish, show.progress)
