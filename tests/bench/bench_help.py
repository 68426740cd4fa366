"""`kcluster --help` beside the smallest Typer application with the same settings."""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

from tests.bench.timing import in_turn, seconds

SMALLEST = """\
import typer

app = typer.Typer(add_completion=False, rich_markup_mode=None, pretty_exceptions_enable=False)


@app.command()
def hello(name: str) -> None:
    print(name)


if __name__ == "__main__":
    app()
"""


def run() -> list[tuple[str, float, float, float]]:
    """One row: seconds for --help."""
    with tempfile.TemporaryDirectory() as folder:
        smallest = Path(folder) / "smallest.py"
        smallest.write_text(SMALLEST)
        kcluster = str(Path(sys.executable).with_name("kcluster"))
        ours, yardstick = in_turn(
            lambda: seconds([kcluster, "--help"]),
            lambda: seconds([sys.executable, str(smallest), "--help"]),
            runs=15,
        )
    return [("--help / smallest Typer app (s)", ours, yardstick, 1.2)]
