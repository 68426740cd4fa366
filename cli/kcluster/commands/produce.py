"""`kcluster produce`: write lines or JSON records to a topic."""

from __future__ import annotations

import os
import sys
from pathlib import Path
from typing import Annotated

import typer

from kcluster import complete, show
from kcluster.clients.kafka.input_messages import Acks, Compression, Input, ProduceRequest
from kcluster.commands.options import Bootstrap, ClientConfig, Inventory, Name, Output
from kcluster.context import Target
from kcluster.errors import UsageError
from kcluster.model.record import Header, unescaped
from kcluster.operations.produce import Produced
from kcluster.operations.produce import produce as send

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def produce(
    topic: Annotated[
        str, typer.Argument(metavar="TOPIC", autocompletion=complete.topics, help="The topic; it must exist.")
    ],
    input: Annotated[
        Input, typer.Option("--input", help="The form of a line: a value, or a JSON record.")
    ] = Input.LINES,
    key_separator: Annotated[
        str | None,
        typer.Option("--key-separator", "-K", metavar="TEXT", help=r"Lines are KEY TEXT VALUE; \t is a tab."),
    ] = None,
    key: Annotated[str | None, typer.Option("--key", "-k", metavar="KEY", help="The key of every record.")] = None,
    null: Annotated[
        str | None, typer.Option("--null", metavar="TEXT", help="A key or value that is exactly TEXT becomes null.")
    ] = None,
    header: Annotated[
        list[str] | None, typer.Option("--header", "-H", metavar="K=V", help="A header of every record; repeatable.")
    ] = None,
    partition: Annotated[
        int | None, typer.Option("--partition", "-p", min=0, metavar="N", help="The partition, whatever the key.")
    ] = None,
    acks: Annotated[
        Acks, typer.Option(help="The replicas that must have a record: none, the leader or all in-sync ones.")
    ] = Acks.ALL,
    compression: Annotated[
        Compression, typer.Option("--compression", "-z", help="The compression codec.")
    ] = Compression.NONE,
    file: Annotated[Path | None, typer.Option("--file", "-f", help="Read this file instead of stdin.")] = None,
    inventory: Inventory = None,
    name: Name = None,
    bootstrap: Bootstrap = None,
    client_config: ClientConfig = None,
    output: Output = show.OutputFormat.TABLE,
) -> Produced:
    """Write lines or JSON records to a topic.

    Each line of stdin is a record. At the end the acknowledged records are counted; exit 5 when one was not
    acknowledged. A key goes to the partition that Java clients choose. With --acks all (the default) no record is
    written twice and their order is kept.

    \b
    kcluster produce clicks < lines.txt
    kcluster produce clicks --key-separator : --null '' < lines.txt      (an empty value becomes a tombstone)
    kcluster consume clicks --from-beginning -e -o jsonl | kcluster produce copy --input jsonl

    With --input jsonl a line is {"key": "k", "value": "v", "partition": 0, "timestamp": 1700000000000,
    "headers": [{"key": "h", "value": "x"}]}; only value is needed. null is a tombstone. Bytes that are not text are
    written as base64 in value_base64 and key_base64. An offset is ignored, and a timestamp of 0 becomes now.
    """
    sending = ProduceRequest(
        input=input,
        separator=_separator(input, key, key_separator),
        key=None if key is None else key.encode(),
        null=None if null is None else null.encode(),
        headers=tuple(_header(text) for text in header or ()),
        partition=partition,
        acks=acks,
        compression=compression,
    )
    target = Target(inventory, name, bootstrap, client_config)
    return send(target.kafka, topic, sending, _source(file))


def _separator(input: Input, key: str | None, separator: str | None) -> bytes | None:
    if separator is None:
        return None
    if not separator or key is not None or input is Input.JSONL:
        raise UsageError("--key-separator cannot be empty, and not be used with --key or --input jsonl")
    return unescaped(separator)


def _header(text: str) -> Header:
    key, equals, value = text.partition("=")
    if not key or not equals:
        raise UsageError(f"--header {text}: use KEY=VALUE", resolution="for example -H source=import")
    return key, value.encode()


def _source(file: Path | None) -> int:
    """The file descriptor to read; on a terminal a hint says how to end the input."""
    if file is None:
        if sys.stdin.isatty():
            show.progress("one record a line; Ctrl-D ends")
        return sys.stdin.fileno()
    try:
        source = os.open(file, os.O_RDONLY)
        os.read(source, 0)  # a directory can be opened but not read
    except OSError as problem:
        raise UsageError(f"cannot read {file}: {problem.strerror}") from problem
    return source
