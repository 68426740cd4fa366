"""Whether a job's file matches an existing table by column names and format; the driver also compares types."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from kcluster.errors import RefusedError
from kcluster.jobs import locations

SCHEMA_FILE = "_kcluster/schema.json"
"""The file with a table's columns, partition columns and format, written by the driver."""


def require_matching_table(settings: Mapping[str, Any]) -> None:
    """Refuse columns, partitioning or a format that differ from an existing local table of an ingest."""
    sink = settings.get("sink", {})
    if settings["job"] == "ingest" and (table := _recorded_schema(sink["path"])):
        for problem in _problems(settings, sink, table):
            raise RefusedError(
                problem,
                details=f"table: {sink['path']}",
                resolution="undo the change in the job's file, or give the job another --name or sink and checkpoint",
            )
        new = [name for name in _columns(settings) if name not in table["columns"]]
        if new and sink["new_columns"] != "add":
            raise RefusedError(
                f"table {sink['path']} has no column {', '.join(new)}",
                resolution="set sink.new_columns: add in the job's file",
            )


def _recorded_schema(sink: str) -> Mapping[str, Any] | None:
    """The recorded schema; None for a new table, another file system, or an unreadable file."""
    folder = locations.local_path(sink)
    try:
        return dict(json.loads((folder / SCHEMA_FILE).read_text())) if folder else None
    except (OSError, ValueError):
        return None


def _problems(settings: Mapping[str, Any], sink: Mapping[str, Any], table: Mapping[str, Any]) -> Iterator[str]:
    if (table_format := table.get("format", sink["format"])) != sink["format"]:
        yield f"the table's format is {table_format}, the job's file has {sink['format']}"
    names = _columns(settings)
    for name in table["columns"]:
        if not name.startswith("_") and name not in names:  # names with _ are reserved
            yield f"column {name} is in the table, but not in the job's file"
    if list(table["partition_by"]) != list(sink["partition_by"]):
        yield f"the table is partitioned by {', '.join(table['partition_by']) or 'nothing'}"


def _columns(settings: Mapping[str, Any]) -> list[str]:
    """The columns of the job's file."""
    form = settings["format"]
    if form["kind"] == "raw":
        fields = ["key", "value"]
    elif form["kind"] == "avro":
        fields = [field["name"] for field in json.loads(form["avro_schema"])["fields"]]
    else:
        fields = list(form["schema"])
    return [*fields, *settings["columns"]]
