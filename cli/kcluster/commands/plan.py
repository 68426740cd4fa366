"""`kcluster plan`: options and help."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from kcluster import show
from kcluster.commands.options import BecomePass, ClientConfig, Inventory, Output
from kcluster.context import Target
from kcluster.operations import plan as operation
from kcluster.results import Result

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def plan(
    inventory: Inventory = None,
    client_config: ClientConfig = None,
    ask_become_pass: BecomePass = False,
    out: Annotated[
        Path | None, typer.Option("--out", metavar="FILE", help="Keep the plan for `kcluster provision --plan FILE`.")
    ] = None,
    exit_code: Annotated[bool, typer.Option("--exit-code", help="End with 2 when something would change.")] = False,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Show what provision would change on each host; changes nothing.

    The inventory is validated first (exit 3). Then all hosts are inspected at the same time: what is installed, which
    files differ (with a diff; secrets as ********), which units do not run, and which processes were started with an
    older configuration. Restarts are listed with their reasons, in the safe order: leaders last. Dynamic config needs
    no restart. Declared topics are compared when the cluster answers; otherwise a note says so.

    With --exit-code a drift watch sees by the exit code whether anything would change: 0 no, 2 yes. Exit code 4 when
    the plan is refused: a disk of another node or cluster, a release of another line, a data directory before the one
    with the metadata log. Exit code 6 when a host cannot be reached.

    Examples:

      kcluster plan -i inventories/prod

      kcluster plan -i inventories/prod -o json | jq .restarts

      kcluster plan -i inventories/prod --out monday.plan

      kcluster plan -i inventories/prod --exit-code
    """
    target = Target(inventory, client_config=client_config, ask_become=ask_become_pass)
    cluster = operation.validated(target.loaded)
    return operation.plan(cluster, target.kafka, target.logins, out=out, exit_code_tells=exit_code)
