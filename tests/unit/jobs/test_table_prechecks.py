from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import pytest

from kcluster.errors import RefusedError
from kcluster.jobs.table_prechecks import require_matching_table

AVRO = '{"type": "record", "name": "r", "fields": [{"name": "id", "type": "string"}]}'


def table(folder: Path, *names: str, form: str = "parquet", by: tuple[str, ...] = ()) -> str:
    """A table as a driver notes it."""
    noted = {"columns": dict.fromkeys((*names, "_offset"), "string"), "partition_by": by, "format": form}
    (folder / "_kcluster").mkdir()
    (folder / "_kcluster" / "schema.json").write_text(json.dumps(noted))
    return str(folder)


def asked(path: str, form: dict[str, Any] | None = None, **sink: Any) -> dict[str, Any]:
    """What a job's file says with every default."""
    return {
        "job": "ingest",
        "format": form or {"kind": "json", "schema": {"id": "string"}},
        "columns": {"day": "to_date(at)"},
        "sink": {"path": path, "format": "parquet", "partition_by": [], "new_columns": "stop", **sink},
    }


def test_the_same_columns_fit_whatever_tells_them(tmp_path: Path) -> None:
    path = table(tmp_path, "id", "day")
    require_matching_table(asked(path))
    require_matching_table(asked(path, {"kind": "avro", "avro_schema": AVRO, "schema": {}}))
    require_matching_table(asked(f"file://{path}"))


@pytest.mark.parametrize(
    ("there", "more", "told"),
    [
        (("id",), {}, "has no column day"),
        (("id", "day", "lat"), {}, "column lat is in the table, but not in the job's file"),
        (("id", "day"), {"format": "delta"}, "the table's format is parquet, the job's file has delta"),
        (("id", "day"), {"partition_by": ["day"]}, "the table is partitioned by nothing"),
        (("id", "day"), {"form": {"kind": "raw", "schema": {}}}, "column id is in the table"),
    ],
)
def test_a_mismatch_is_refused_with_a_resolution(
    tmp_path: Path, there: tuple[str, ...], more: dict[str, Any], told: str
) -> None:
    with pytest.raises(RefusedError, match=told) as problem:
        require_matching_table(asked(table(tmp_path, *there), **more))
    assert problem.value.resolution


def test_new_columns_may_come_when_the_file_says_so(tmp_path: Path) -> None:
    require_matching_table(asked(table(tmp_path, "id"), new_columns="add"))


def test_of_a_table_that_is_new_or_elsewhere_nothing_is_known(tmp_path: Path) -> None:
    require_matching_table(asked(str(tmp_path / "new")))
    require_matching_table(asked("s3a://lake/one"))
    require_matching_table({"job": "trucks"})
