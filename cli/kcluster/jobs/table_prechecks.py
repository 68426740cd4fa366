"""Whether a job's file fits the table that is there, as far as names tell; the driver compares the types as well."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from typing import Any

from kcluster.errors import RefusedError
from kcluster.jobs import locations

SCHEMA = "_kcluster/schema.json"
"""The file in which the driver notes a table's columns, the folders they are in, and the format."""


def fits(asked: Mapping[str, Any]) -> None:
    """Refuse columns, folders or a format that the table of an ingest on this machine does not have."""
    sink = asked.get("sink", {})
    if asked["job"] == "ingest" and (known := _known(sink["path"])):
        for problem in _problems(asked, sink, known):
            raise RefusedError(
                problem,
                details=f"the table is {sink['path']}",
                resolution="put it back in the job's file, or give the job another --name or sink and checkpoint",
            )
        new = [name for name in _names(asked) if name not in known["columns"]]
        if new and sink["new_columns"] != "add":
            raise RefusedError(
                f"the table {sink['path']} has no column {', '.join(new)}",
                resolution="set sink.new_columns: add in the job's file",
            )


def _known(sink: str) -> Mapping[str, Any] | None:
    """What is noted of the table; nothing of one that is new, elsewhere, or for the driver to judge."""
    folder = locations.here(sink)
    try:
        return dict(json.loads((folder / SCHEMA).read_text())) if folder else None
    except (OSError, ValueError):
        return None


def _problems(asked: Mapping[str, Any], sink: Mapping[str, Any], known: Mapping[str, Any]) -> Iterator[str]:
    if (held := known.get("format", sink["format"])) != sink["format"]:
        yield f"the table is {held}, and the job's file says {sink['format']}"
    names = _names(asked)
    for name in known["columns"]:
        if not name.startswith("_") and name not in names:  # those with _ are the job's own
            yield f"column {name} is gone from the job's file, and the table has it"
    if list(known["partition_by"]) != list(sink["partition_by"]):
        yield f"the table is in folders by {', '.join(known['partition_by']) or 'nothing'}"


def _names(asked: Mapping[str, Any]) -> list[str]:
    """The columns that the file asks for."""
    form = asked["format"]
    if form["kind"] == "raw":
        fields = ["key", "value"]
    elif form["kind"] == "avro":
        fields = [field["name"] for field in json.loads(form["avro_schema"])["fields"]]
    else:
        fields = list(form["schema"])
    return [*fields, *asked["columns"]]
