"""`kcluster release`: options, help and the progress bar of the release commands."""

from __future__ import annotations

import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from kcluster import show
from kcluster.command_group import CommandGroup
from kcluster.commands.options import Output
from kcluster.operations import release as operation
from kcluster.results import Meter, Progress, Result

if TYPE_CHECKING:
    from rich.progress import Progress as Bar

app = typer.Typer(
    cls=CommandGroup,
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
    """List known releases, their sources, and which are in the cache."""
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
            help="cache, maven, url (Apache's archive), a URL, or a path; repeat it for further sources.",
        ),
    ] = None,
    sha512: Annotated[
        str, typer.Option("--sha512", metavar="HASH", help="The archive's SHA-512; required by a source with http://.")
    ] = "",
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Fetch a release into the cache and verify it; repairs damaged files.

    Without --source: the cache, Maven, then Apache's archive. An interrupted download resumes. A URL or path is that of
    the archive, or of a mirror or directory with it. It is verified by --sha512, else by the hash packaged with
    kcluster, else by a file next to it that ends with .sha512; where that file has another hash, it is refused.

    \b
      kcluster release fetch 3.9.2
      kcluster release fetch 3.9.2 --source kafka_2.13-3.9.2.tgz
    """
    with _watched() as (progress, meter):
        return operation.fetch(version, source or (), progress, meter, sha512)


@app.command()
def verify(version: Version, output: Output = show.OutputFormat.TABLE) -> Result:
    """Verify every file of a cached release; exit 4 where files are wrong, missing or extra."""
    return operation.verify(version)


@app.command()
def bundle(
    version: Version,
    file: Annotated[Path, typer.Argument(metavar="FILE", help="The archive to write, or its directory.")],
    output: Output = show.OutputFormat.TABLE,
) -> Result:
    """Pack a release as an archive with its .sha512, for machines without access to a source.

    The same release always gives the same archive.

    \b
      kcluster release bundle 3.9.2 /media/stick
    """
    with _watched() as (progress, meter):
        return operation.bundle(version, file, progress, meter)


@contextmanager
def _watched() -> Iterator[tuple[Progress, Meter]]:
    """Progress and meter: a bar on a terminal, plain lines elsewhere."""
    if not show.interactive():
        yield show.progress, _plain()
        return
    from rich.console import Console  # lazily: only a terminal needs it
    from rich.progress import BarColumn, Progress, TextColumn

    columns = (BarColumn(), TextColumn("{task.description}"))
    with Progress(*columns, console=Console(stderr=True), transient=True) as bar:
        yield lambda text: bar.console.print(text, markup=False, highlight=False, soft_wrap=True), _bar(bar)


def _bar(bar: Bar) -> Meter:
    rate = TransferRate()
    task = bar.add_task("", total=None, visible=False)

    def meter(done: int, total: int | None, unit: str) -> None:
        bar.update(task, completed=done, total=total, description=rate.text(done, total, unit), visible=True)

    return meter


def _plain() -> Meter:
    """A meter that prints a line every 5 seconds."""
    rate = TransferRate()
    last = time.monotonic()

    def meter(done: int, total: int | None, unit: str) -> None:
        nonlocal last
        text = rate.text(done, total, unit)
        if time.monotonic() - last >= 5:
            last = time.monotonic()
            show.progress(f"  {text}")

    return meter


class TransferRate:
    """The rate of a transfer since this run started it."""

    def __init__(self) -> None:
        self._first: tuple[int, float] | None = None

    def text(self, done: int, total: int | None, unit: str) -> str:
        """The progress in words: "30 of 120 MB (25%), 10.0 MB/s, 9 s left"."""
        now = time.monotonic()
        if self._first is None or done < self._first[0]:
            self._first = (done, now)
        seconds = now - self._first[1]
        return amount(done, total, unit, (done - self._first[0]) / seconds if seconds else 0.0)


def amount(done: int, total: int | None, unit: str, rate: float) -> str:
    """The progress of a transfer in words."""
    scale, name = (1e6, "MB") if unit == "B" else (1.0, unit)
    whole = f" of {total / scale:.0f}" if total else ""
    share = f" ({done / total:.0%})" if total else ""
    left = f", {(total - done) / rate:.0f} s left" if total and rate else ""
    return f"{done / scale:.0f}{whole} {name}{share}, {rate / scale:.1f} {name}/s{left}"
