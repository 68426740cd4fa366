"""`kcluster release`: options, help and the progress bar of the release commands."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kcluster import show
from kcluster.commands.options import Output
from kcluster.operations import release as operation
from kcluster.results import Meter, Progress, Result

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

app = typer.Typer(
    help="List, fetch, verify and bundle Kafka releases.",
    no_args_is_help=True,
    add_completion=False,
    rich_markup_mode=None,
)


def _versions(incomplete: str) -> list[str]:
    return [one.version for one in operation.listing().releases if one.version.startswith(incomplete)]


Version = Annotated[
    str, typer.Argument(metavar="VERSION", autocompletion=_versions, help="A Kafka version, such as 3.9.2.")
]


@app.command("list")
def list_(output: Output = show.OutputFormat.TABLE) -> Result:
    """List the releases that are known, where they come from, and which are in the cache."""
    return operation.listing()


@app.command()
def fetch(
    version: Version,
    source: Annotated[
        list[str] | None,
        typer.Option(
            "--source",
            "-s",
            metavar="SOURCE",
            help="cache, maven, url (Apache's archive), any URL, or a path; give it again for the next one to try.",
        ),
    ] = None,
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Fetch a release into the cache, verified, or repair what is damaged of it.

    Without --source: the cache, Maven, then Apache's archive, until one has it. A download that was interrupted goes
    on where it stopped. A URL or a path names the archive itself, or a mirror or a folder that holds it; beside it
    lies its hash, in a file that is called the same with .sha512 at the end.

    \b
      kcluster release fetch 3.9.2
      kcluster release fetch 3.9.2 --source kafka_2.13-3.9.2.tgz
    """
    with _watched() as (progress, meter):
        return operation.fetch(version, source or (), progress, meter)


@app.command()
def verify(version: Version, output: Output = show.OutputFormat.TABLE) -> Result:
    """Read every file of a release in the cache; exit 4 and name what is wrong, missing or extra."""
    return operation.verify(version)


@app.command()
def bundle(
    version: Version,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The archive to write, or the folder for it.")],
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Pack a release as Apache does, with its .sha512 beside it, for machines that reach no source.

    The same release always gives the same bytes.

    \b
      kcluster release bundle 3.9.2 /media/stick
    """
    with _watched() as (progress, meter):
        return operation.bundle(version, file, progress, meter)


@contextmanager
def _watched() -> Iterator[tuple[Progress, Meter]]:
    """How progress is shown: a bar with rate and time left on a terminal, plain lines elsewhere."""
    if not show.interactive():
        yield show.progress, _plain()
        return
    from rich.console import Console  # lazily: only a terminal needs it
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (BarColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield lambda text: bar.console.print(text, markup=False, highlight=False, soft_wrap=True), _bar(bar)


def _bar(bar: Bar) -> Meter:
    pace = Pace()
    task = bar.add_task("", total=None, visible=False)

    def meter(done: int, total: int | None, unit: str) -> None:
        bar.update(task, completed=done, total=total, description=pace.text(done, total, unit), visible=True)

    return meter


def _plain() -> Meter:
    """A line every few seconds, so that a log of a slow download tells how far it is and stays short."""
    pace = Pace()
    last = time.monotonic()

    def meter(done: int, total: int | None, unit: str) -> None:
        nonlocal last
        text = pace.text(done, total, unit)
        if time.monotonic() - last >= 5:
            last = time.monotonic()
            show.progress(f"  {text}")

    return meter


class Pace:
    """How fast a transfer is, counted from where this run began it."""

    def __init__(self) -> None:
        self._first: tuple[int, float] | None = None

    def text(self, done: int, total: int | None, unit: str) -> str:
        """How far it is, in words: "30 of 120 MB (25%), 10.0 MB/s, 9 s left"."""
        now = time.monotonic()
        if self._first is None or done < self._first[0]:
            self._first = (done, now)
        seconds = now - self._first[1]
        return amount(done, total, unit, (done - self._first[0]) / seconds if seconds else 0.0)


def amount(done: int, total: int | None, unit: str, rate: float) -> str:
    """How far a transfer is, in words."""
    scale, name = (1e6, "MB") if unit == "B" else (1.0, unit)
    whole = f" of {total / scale:.0f}" if total else ""
    share = f" ({done / total:.0%})" if total else ""
    left = f", {(total - done) / rate:.0f} s left" if total and rate else ""
    return f"{done / scale:.0f}{whole} {name}{share}, {rate / scale:.1f} {name}/s{left}"
