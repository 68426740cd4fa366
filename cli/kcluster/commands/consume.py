"""`kcluster consume`: read records from a topic."""

from __future__ import annotations

import re
import sys
from datetime import datetime
from enum import StrEnum
from typing import Annotated

import typer

from kcluster import complete, show
from kcluster.commands.options import Bootstrap, ClientConfig, Inventory
from kcluster.context import Target
from kcluster.errors import UsageError
from kcluster.model.record import COLUMNS, RecordError, RecordFormatter, columns, template, to_json
from kcluster.operations.consume import ConsumeRequest, StartPosition
from kcluster.operations.consume import consume as read
from kcluster.results import enumerated

app = typer.Typer(add_completion=False, rich_markup_mode=None)


class Form(StrEnum):
    """How records are written."""

    LINES = "lines"
    JSONL = "jsonl"


@app.command()
def consume(
    topic: Annotated[str, typer.Argument(metavar="TOPIC", autocompletion=complete.topics, help="The topic.")],
    from_beginning: Annotated[bool, typer.Option("--from-beginning", help="Start with the oldest record.")] = False,
    offset: Annotated[
        str | None,
        typer.Option(metavar="WHERE", help="Start at: beginning, end, an offset, -N (the last N), @TIME (ms or ISO)."),
    ] = None,
    partition: Annotated[
        list[int] | None, typer.Option("--partition", "-p", min=0, metavar="N", help="Only this partition; repeatable.")
    ] = None,
    group: Annotated[
        str | None,
        typer.Option("--group", "-g", metavar="GROUP", help="Resume at the offsets of this group, and commit."),
    ] = None,
    count: Annotated[
        int | None, typer.Option("--count", "-n", min=1, metavar="N", help="Stop after N records.")
    ] = None,
    exit_at_end: Annotated[
        bool, typer.Option("--exit-at-end", "-e", help="Stop at the current end of the topic.")
    ] = False,
    key: Annotated[bool, typer.Option("--key", help="Show the key before the value, and a tab.")] = False,
    headers: Annotated[bool, typer.Option("--headers", help="Show the headers.")] = False,
    timestamp: Annotated[bool, typer.Option("--timestamp", help="Show the timestamp.")] = False,
    shown: Annotated[
        str | None, typer.Option("--show", metavar="COLUMNS", help=f"Show these: {','.join(COLUMNS)}.")
    ] = None,
    format: Annotated[
        str | None, typer.Option("--format", metavar="TEXT", help=r"Such as '%k %v': %v %k %p %o %T %h %% \t \n.")
    ] = None,
    inventory: Inventory = None,
    name: Annotated[
        str | None,
        typer.Option(metavar="NAME", autocompletion=complete.local_clusters, help="A cluster on this machine."),
    ] = None,
    bootstrap: Bootstrap = None,
    client_config: ClientConfig = None,
    output: Annotated[
        Form, typer.Option("--output", "-o", help="Values on lines, or lossless JSON records.")
    ] = Form.LINES,
) -> None:
    """Read records from a topic.

    Starts at the end and follows until Ctrl-C, like Kafka's console consumer. Records of a partition come in order.
    Without --group nothing is committed and no group is changed. With --group reading resumes at the group's
    offsets, and only records that were written out are committed.

    \b
    kcluster consume clicks --from-beginning -e | wc -l
    kcluster consume clicks --offset -10 -e --show timestamp,partition,offset,key
    kcluster consume clicks --from-beginning -e -o jsonl | kcluster produce copy --input jsonl

    With -o jsonl a line is {"key": "k", "value": "v", "partition": 0, "offset": 7, "timestamp": 1700000000000,
    "headers": [{"key": "h", "value": "x"}]}. null is null and "" is empty. Bytes that are not UTF-8 are given as
    base64 in key_base64 and value_base64. On lines a null is shown as null.
    """
    reading = ConsumeRequest(
        start=start_of(from_beginning=from_beginning, offset=offset, group=group),
        partitions=_partitions(partition, group),
        group=group,
        count=count,
        exit_at_end=exit_at_end,
    )
    flags = {"key": key, "headers": headers, "timestamp": timestamp}
    how = _shown(output, format, _columns(shown, flags))
    kafka = Target(inventory, name, bootstrap, client_config).kafka
    if sys.stdout.isatty() and not exit_at_end and count is None:
        show.progress(f"reading {topic}{'' if group else f' from its {reading.start.at}'}; Ctrl-C ends")
    read(kafka, topic, reading, how, sys.stdout.buffer)


def start_of(*, from_beginning: bool, offset: str | None, group: str | None) -> StartPosition:
    """The start position that the options name; raises UsageError for a contradiction."""
    if offset is None:
        return StartPosition("beginning" if from_beginning else "end")
    if from_beginning or group:
        raise UsageError(
            f"--offset cannot be used with {'--from-beginning' if from_beginning else '--group'}",
            resolution="kcluster group reset GROUP changes the offsets of a group" if group else "use one of them",
        )
    if offset in ("beginning", "start", "earliest"):
        return StartPosition("beginning")
    if offset in ("end", "latest"):
        return StartPosition("end")
    if offset.startswith("@"):
        return StartPosition("time", _milliseconds(offset[1:]))
    if re.fullmatch(r"-?\d{1,18}", offset):
        return StartPosition("last" if offset.startswith("-") else "offset", abs(int(offset)))
    raise UsageError(
        f"--offset {offset}: use beginning, end, an offset, -N or @TIME",
        resolution="for example --offset -10 or --offset @2026-01-31T12:00",
    )


def _milliseconds(text: str) -> int:
    if re.fullmatch(r"\d{1,18}", text):
        return int(text)
    try:
        return int(datetime.fromisoformat(text).timestamp() * 1000)
    except ValueError as problem:
        raise UsageError(
            f"--offset @{text}: use an ISO time or milliseconds since 1970",
            resolution="for example @2026-01-31T12:00, @2026-01-31T12:00+00:00 or @1700000000000",
        ) from problem


def _partitions(partitions: list[int] | None, group: str | None) -> list[int]:
    if partitions and group:
        raise UsageError("--partition cannot be used with --group", resolution="a group reads all partitions")
    return partitions or []


def _columns(names: str | None, flags: dict[str, bool]) -> list[str]:
    requested = {name for name, on in flags.items() if on}
    if names is not None:
        requested |= {name.strip() for name in names.split(",")}
    unknown = sorted(requested - set(COLUMNS))
    if unknown:
        raise UsageError(f"--show {unknown[0]}: use {enumerated(COLUMNS, 'or')}", resolution="kcluster consume --help")
    return [name for name in COLUMNS if name in requested]


def _shown(form: Form, format: str | None, shown: list[str]) -> RecordFormatter | None:
    """How a record is written; None for bare values."""
    if (form is Form.JSONL) + (format is not None) + bool(shown) > 1:
        raise UsageError(
            "only one of -o jsonl, --format and shown columns can be used",
            resolution="-o jsonl has every column; in --format %k is the key and %p the partition",
        )
    if form is Form.JSONL:
        return lambda record: to_json(record) + b"\n"
    if format is None and not shown:
        return None
    try:
        return template(columns(shown) if format is None else format)
    except RecordError as problem:
        raise UsageError(f"--format: {problem}", resolution="--format '%k %v'") from problem
