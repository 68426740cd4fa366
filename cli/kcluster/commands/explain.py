"""`kcluster explain`: options and help of the explanations of checks."""

from __future__ import annotations

from typing import Annotated

import typer

from kcluster import complete, show
from kcluster.commands.options import Output
from kcluster.operations import explain as operation
from kcluster.results import Result

app = typer.Typer(rich_markup_mode=None, add_completion=False)


@app.command()
def explain(
    check: Annotated[
        str | None,
        typer.Argument(metavar="[ID]", autocompletion=complete.checks, help="The check; all are listed without one."),
    ] = None,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Explain a check and how to fix it.

    Examples:

      kcluster explain

      kcluster explain port-matrix
    """
    return operation.explain(check) if check else operation.listed()
