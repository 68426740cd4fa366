"""How results, errors and progress look: the only module that prints."""

from __future__ import annotations

import os
import shlex
import sys
from collections.abc import Sequence
from contextvars import ContextVar
from enum import StrEnum
from pathlib import Path
from typing import IO

from kcluster.errors import KclusterError
from kcluster.results import Block, Cell, Grid, Result, Tone, counted


class OutputFormat(StrEnum):
    """The forms in which a result is printed."""

    TABLE = "table"
    WIDE = "wide"
    """A table with all its columns."""
    JSON = "json"
    YAML = "yaml"

    @property
    def for_people(self) -> bool:
        """Whether it is a table, and no data."""
        return self in (OutputFormat.TABLE, OutputFormat.WIDE)


_DETAIL_LINES = 40
"""How many lines of an error's details people are shown: a host each of a large cluster would hide what to do."""

_COLOURS = {Tone.GOOD: "32", Tone.WARN: "33", Tone.BAD: "31", Tone.DIM: "2"}


_ADVISED, _inventory = "-i INV", ContextVar("inventory", default="INV")


def inventory_is(path: Path | None) -> None:
    """Take the inventory that the user named for the commands we suggest."""
    _inventory.set(shlex.quote(str(path)) if path else "INV")


def result(value: Result, form: OutputFormat, *, out: IO[str] | None = None) -> None:
    """Print a result on stdout in the form the user asked for; elsewhere it is something to look at on the way."""
    coloured = _coloured(out or sys.stdout)
    stream = Lasting(out) if out else sys.stdout
    if form is OutputFormat.JSON:
        stream.write(_json(value.data()))
    elif form is OutputFormat.YAML:
        stream.write(_yaml(value.data()))
    else:
        for block in value.view():
            stream.write(_advised(_block(block, colour=coloured, wide=form is OutputFormat.WIDE)))
    stream.flush()


def error(problem: KclusterError) -> None:
    """Print an error on stderr: one line, its details, and what to do."""
    colour = _coloured(sys.stderr)
    lines = [_paint("error: ", Tone.BAD, colour) + problem.message]
    details = problem.details.splitlines()
    lines += [f"  {line}" for line in details[:_DETAIL_LINES]]
    if more := len(details[_DETAIL_LINES:]):
        lines.append(f"  and {counted(more, 'more line', 'more lines')} (all of them: -o json)")
    if problem.resolution:
        lines += [_paint("  try: ", Tone.GOOD, colour) + problem.resolution]
    print(_advised("\n".join(lines)), file=Lasting(sys.stderr))


def failure(problem: KclusterError, form: OutputFormat) -> None:
    """Print an error on stdout where a machine reads it: with every item that its text names the first of."""
    if form.for_people:
        return
    texts = {key: _advised(getattr(problem, key)) for key in ("message", "details", "resolution")}
    data = {"error": {**texts, "exit_code": int(problem.exit_code), "lists": problem.lists}}
    stream = Lasting(sys.stdout)
    stream.write(_json(data) if form is OutputFormat.JSON else _yaml(data))
    stream.flush()


def _advised(text: str) -> str:
    """Let a suggested command name the inventory that the user named."""
    return text.replace(_ADVISED, f"-i {_inventory.get()}")


def progress(text: str) -> None:
    """Print a line of progress on stderr."""
    print(text, file=Lasting(sys.stderr), flush=True)


class Lasting:
    """A stream that drops all output once writing fails (closed pipe, full disk), so that the work goes on."""

    def __init__(self, out: IO[str]) -> None:
        self._out = out

    def write(self, text: str) -> int:
        """Write the text; after an error it is dropped."""
        try:
            return self._out.write(text)
        except OSError:
            hush(self._out)
            return len(text)

    def flush(self) -> None:
        """Flush; after an error nothing is written any more."""
        try:
            self._out.flush()
        except OSError:
            hush(self._out)


def hush(out: IO[str]) -> None:
    """Redirect a broken stream to /dev/null; Python would report it at exit."""
    os.dup2(os.open(os.devnull, os.O_WRONLY), out.fileno())


def ask(question: str) -> str:
    """Ask on stderr and read one line; the caller has made sure that there is a terminal."""
    print(question, end=" ", file=sys.stderr, flush=True)
    return sys.stdin.readline().strip()


def secret(question: str) -> str:
    """Ask for a password without echo; the caller has made sure that there is a terminal."""
    from getpass import getpass

    return getpass(question, sys.stderr)


def interactive() -> bool:
    """Whether stdin and stderr are a terminal."""
    return sys.stdin.isatty() and sys.stderr.isatty()


def _coloured(stream: IO[str]) -> bool:
    return stream.isatty() and "NO_COLOR" not in os.environ and os.environ.get("TERM") != "dumb"


def _paint(text: str, tone: Tone, colour: bool) -> str:
    code = _COLOURS.get(tone)
    return f"\033[{code}m{text}\033[0m" if colour and code else text


def _block(block: Block, *, colour: bool, wide: bool) -> str:
    if isinstance(block, Grid):
        return _grid(block, colour=colour, wide=wide)
    cell = _cell(block)
    return _paint(cell.text, cell.tone, colour) + "\n"


def _cell(value: str | Cell) -> Cell:
    return value if isinstance(value, Cell) else Cell(str(value))


def _grid(grid: Grid, *, colour: bool, wide: bool) -> str:
    """Columns with two spaces between, no borders; a column that is empty everywhere is left out."""
    if not grid.rows:
        return ""
    rows = [[_cell(value) for value in row] for row in grid.rows]
    kept = [
        column
        for column, name in enumerate(grid.columns)
        if any(row[column].text for row in rows) and (wide or name not in grid.wide)
    ]
    header = [Cell(grid.columns[column], Tone.DIM) for column in kept]
    lines = [header, *([row[column] for column in kept] for row in rows)]
    widths = [max(len(line[column].text) for line in lines) for column in range(len(kept))]
    return "".join(_line(line, widths, colour) for line in lines)


def _line(cells: Sequence[Cell], widths: Sequence[int], colour: bool) -> str:
    painted = [
        _paint(cell.text, cell.tone, colour) + " " * (width - len(cell.text))
        for cell, width in zip(cells, widths, strict=True)
    ]
    return "  ".join(painted).rstrip() + "\n"


def _json(data: object) -> str:
    import json  # lazily, as yaml below: a table pays for neither

    return json.dumps(data, indent=2, default=str, ensure_ascii=False) + "\n"


def _yaml(data: object) -> str:
    import json

    import yaml

    # Through JSON, so that enums and paths look the same in both forms.
    return str(yaml.safe_dump(json.loads(_json(data)), sort_keys=False, allow_unicode=True))
