"""`kcluster validate`: options and help."""

from __future__ import annotations

from typing import Annotated

import typer

from kcluster import show
from kcluster.commands.options import Inventory, Output
from kcluster.errors import UsageError
from kcluster.operations import validate as operation
from kcluster.results import Result

app = typer.Typer(rich_markup_mode=None, add_completion=False)

Strict = Annotated[bool, typer.Option("--strict", help="Refuse warnings as well.")]


@app.command()
def validate(inventory: Inventory = None, strict: Strict = False, output: Output = show.OutputFormat.TABLE) -> Result:
    """Check an inventory and report all findings.

    Reads what Ansible reads: YAML, INI, group_vars, host_vars, vault, dynamic inventories. Each finding has the file
    and line, the value and the fix. Exit code 0 when the inventory is accepted, 3 when it is refused.

    Example: kcluster validate -i inventories/local --strict
    """
    if inventory is None:
        raise UsageError("no inventory is given", resolution="kcluster validate -i INV, or set KCLUSTER_INVENTORY")
    return operation.validate(inventory, strict=strict)
