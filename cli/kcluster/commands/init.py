"""`kcluster init`: options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kcluster import show
from kcluster.commands.options import Output
from kcluster.operations import init as operation
from kcluster.results import Result

app = typer.Typer(rich_markup_mode=None, add_completion=False)

Directory = Annotated[Path, typer.Argument(metavar="DIR", help="The directory to write; it must be new or empty.")]
Brokers = Annotated[int, typer.Option("--brokers", metavar="N", help="Number of brokers.")]
Zookeepers = Annotated[
    int | None, typer.Option("--zookeepers", metavar="N", help="Number of ZooKeeper servers, odd. [3]")
]
Kraft = Annotated[bool, typer.Option("--kraft", help="Use KRaft controllers instead of ZooKeeper.")]
Controllers = Annotated[
    int | None, typer.Option("--controllers", metavar="N", help="Number of KRaft controllers, odd; with --kraft. [3]")
]
Hosts = Annotated[
    str, typer.Option("--hosts", metavar="A,B,C", help="Hosts, separated by commas. Default: this machine.")
]
ClusterName = Annotated[str, typer.Option("--name", metavar="NAME", help="The cluster's name. [DIR's name]")]


@app.command()
def init(
    directory: Directory,
    brokers: Brokers = 3,
    zookeepers: Zookeepers = None,
    kraft: Kraft = False,
    controllers: Controllers = None,
    hosts: Hosts = "",
    name: ClusterName = "",
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Write a starter inventory that validates at once.

    Without --hosts all nodes run on this machine, started by `kcluster up`. With --hosts each node gets its own host
    where there are enough; else ZooKeeper servers or controllers share hosts with brokers.

    Example: kcluster init inventories/demo --brokers 3 --hosts kafka1,kafka2,kafka3
    """
    named = [host.strip() for host in hosts.split(",")] if hosts else []
    return operation.init(directory, operation.InitRequest(brokers, zookeepers, kraft, controllers, named, name))
