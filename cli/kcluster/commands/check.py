"""`kcluster check`: options and help of the preflight checks."""

from __future__ import annotations

import sys
from dataclasses import replace
from typing import Annotated

import typer

from kcluster import show
from kcluster.commands.options import BecomePass, ClientConfig, Inventory, Output, Yes, confirm
from kcluster.context import Target
from kcluster.results import Result

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def check(
    inventory: Inventory = None,
    fix: Annotated[bool, typer.Option("--fix", help="Repair what is safe to repair, then check again.")] = False,
    client_config: ClientConfig = None,
    strict: Annotated[bool, typer.Option("--strict", help="Refuse warnings as well.")] = False,
    every: Annotated[bool, typer.Option("--all", help="List the passed checks as well.")] = False,
    yes: Yes = False,
    ask_become_pass: BecomePass = False,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Check that each host is fit for its part; exit 4 when not.

    All hosts are checked in parallel over SSH: system, Java, memory, disks and the cluster of the data on them, ports,
    host names, connections from each host and from this machine to the ports they need, clocks. Nothing is changed
    without --fix, which creates the service account and directories, sets kernel settings and installs Java where
    they are missing; `kcluster history` shows it.
    `kcluster explain ID` explains a check and how to fix it.

    Exit code 0 when no check failed, 4 when one did, 6 when a host cannot be reached; the others are checked all
    the same. With --fix 7 when another run works on the cluster.

    Examples:

      kcluster check -i inventories/staging --strict

      kcluster check -i inventories/staging --fix --yes
    """
    from kcluster.clients.ssh import Connections
    from kcluster.operations import check as operation
    from kcluster.rollout import host_repair

    target = Target(inventory=inventory, client_config=client_config, ask_become=ask_become_pass)
    cluster = replace(target.remote, client=target.client)
    with Connections(target.logins) as hosts:
        checked = operation.check(cluster, hosts, show.progress, strict=strict)
        if fix and checked.fixable:
            show.progress(f"to repair: {operation.described(checked.fixable)}")
            confirm("Repair them?", yes=yes)
            host_repair.repair(
                cluster,
                hosts,
                target.loaded.path,
                checked.fixable,
                show.progress,
                ["kcluster", *sys.argv[1:]],
                become_password=target.become_password,
            )
            checked = replace(operation.check(cluster, hosts, show.progress, strict=strict), tried=checked.fixable)
    return replace(checked, every=every)
