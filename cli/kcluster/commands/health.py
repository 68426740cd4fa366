"""`kcluster health`: options and help of the health checks."""

from __future__ import annotations

import re
from contextlib import ExitStack
from typing import Annotated

import typer

from kcluster import show
from kcluster.commands.options import BecomePass, Bootstrap, ClientConfig, Inventory, Name, Output
from kcluster.context import Target
from kcluster.errors import UsageError
from kcluster.results import Result

app = typer.Typer(rich_markup_mode=None, add_completion=False)

_UNITS = {"": 1.0, "s": 1.0, "m": 60.0, "h": 3600.0}


def duration(text: str) -> float:
    """Seconds from 30, 30s, 2m or 1h."""
    match = re.fullmatch(r"(\d+(?:\.\d+)?)([smh]?)", text)
    if not match:
        raise typer.BadParameter("use a time such as 30s, 2m or 1h")
    return float(match[1]) * _UNITS[match[2]]


@app.command()
def health(
    inventory: Inventory = None,
    name: Name = None,
    bootstrap: Bootstrap = None,
    client_config: ClientConfig = None,
    wait: Annotated[
        float | None,
        typer.Option(
            "--wait",
            "-w",
            parser=duration,
            metavar="TIME",
            help="Repeat the checks until the cluster is healthy, for at most 30s, 2m, ...",
        ),
    ] = None,
    watch: Annotated[bool, typer.Option("--watch", help="Repeat the checks; print every change.")] = False,
    ask_become_pass: BecomePass = False,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Check the health of a cluster; exit 4 when it is unhealthy.

    Healthy means: every node answers; there is one ZooKeeper leader and all followers are in sync, or the KRaft
    quorum has a leader and no voter lags; there is one controller; no partition is offline, under-replicated or
    below min.insync.replicas; every broker answers at each address it advertises; the cluster id is the same
    on all nodes. On hosts also: every unit is active, enabled and was not restarted by systemd lately, and the
    disks have free space (warning below 10 %, failed below 2 %). Nodes are asked where their processes listen; other
    addresses in the inventory are a warning, and so are hosts that let only SSH through. With --bootstrap the
    checks that need an inventory are skipped, and listed.

    Exit code 6 when no node answers.

    Example: kcluster health --wait 60s && kcluster smoke
    """
    from kcluster.operations import health as operation

    if wait is not None and watch:
        raise UsageError("--wait and --watch exclude each other", resolution="use one of them")
    target = Target(inventory, name, bootstrap, client_config, ask_become=ask_become_pass)
    cluster = None if bootstrap else target.cluster
    with ExitStack() as stack:
        hosts = None
        if cluster and not cluster.local and not name:
            from kcluster.clients.ssh import Connections  # lazily: only hosts need it

            hosts = stack.enter_context(Connections(target.logins))
        if watch:
            for change in operation.changes(target.kafka, cluster, hosts):
                show.result(change, output)
        return operation.until_healthy(target.kafka, cluster, hosts, within=wait or 0.0, progress=show.progress)
