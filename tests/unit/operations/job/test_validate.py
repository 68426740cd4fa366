"""What a job's file says, asked of the real job."""

from __future__ import annotations

from pathlib import Path

import pytest

from kcluster.errors import UsageError
from kcluster.operations.job.validate import validate

FILE = """\
job: ingest
topics: [t]
format: {kind: raw}
"""


def file(folder: Path, more: str) -> Path:
    path = folder / "job.yml"
    path.write_text(FILE + more)
    return path


def test_times_and_numbers_need_no_quotes(tmp_path: Path) -> None:
    told = validate(file(tmp_path, "start: 2026-11-18T06:00:00Z\nspark: {spark.cores.max: 1}\n")).settings
    assert (told["start"], told["spark"]) == ("2026-11-18T06:00:00+00:00", {"spark.cores.max": "1"})


@pytest.mark.parametrize("start", ["2026-13-45", "'2026-13-45'"])
def test_an_invalid_date_is_a_finding(tmp_path: Path, start: str) -> None:
    with pytest.raises(UsageError) as wrong:
        validate(file(tmp_path, f"start: {start}\n"))
    assert "month must be in 1..12" in wrong.value.details


def test_passwords_are_not_shown(tmp_path: Path) -> None:
    more = 'kafka: {sasl.jaas.config: "X required password=hush;"}\nspark: {spark.authenticate.secret: hush}\n'
    valid = validate(file(tmp_path, more))
    assert "hush" not in str(valid.data())
    assert valid.data()["settings"]["topics"] == ["t"]
