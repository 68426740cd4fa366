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
    brokers: Annotated[int | None, typer.Option(min=1, max=99, metavar="N", help="Number of brokers. [3]")] = None,
    zookeepers: Annotated[
        int | None, typer.Option(min=1, max=99, metavar="N", help="Number of ZooKeeper servers, odd. [3]")
    ] = None,
    kraft: Annotated[bool, typer.Option("--kraft", help="Use KRaft controllers instead of ZooKeeper.")] = False,
    controllers: Annotated[
        int | None, typer.Option(min=1, max=99, metavar="N", help="Number of KRaft controllers, odd; with --kraft. [3]")
    ] = None,
    kafka_version: Annotated[
        str | None, typer.Option(metavar="VERSION", help="Kafka version, without an inventory.")
    ] = None,
    dry_run: Annotated[bool, typer.Option("--dry-run", help="Show what would be started; change nothing.")] = False,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Start a cluster on this machine, or its missing nodes.

    The cluster keeps running after the command; `kcluster down` stops it and keeps its data. With an inventory it has
    the same nodes and settings as on real hosts, but on 127.0.0.1, with free ports and a small heap; the inventory must
    pass `kcluster validate`. A second `up` starts the nodes that do not run and changes nothing else.

    Examples:

      kcluster up

      kcluster up -i inventories/local

      kcluster up --name small --brokers 1 --zookeepers 1

      kcluster up --name kraft --kraft --kafka-version 4.2.0
    """
    request = UpRequest(inventory, name, brokers, zookeepers, controllers, kraft, kafka_version)
    if dry_run:
        return operation.plan(request)
    for ending in (signal.SIGTERM, signal.SIGHUP):
        if signal.getsignal(ending) is not signal.SIG_IGN:  # as it is under nohup
            signal.signal(ending, signal.default_int_handler)  # as Ctrl-C: nothing keeps running half-started
    return operation.up(request, show.progress)
