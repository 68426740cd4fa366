"""What an ingest refuses before its first batch."""

from __future__ import annotations

import json
import re
from pathlib import Path
from typing import TYPE_CHECKING, Any

import pytest

from spark_jobs import settings
from spark_jobs.ingest import batch_journal, prechecks, sinks
from spark_jobs.runtime import checkpoint_owner
from spark_jobs.runtime.error_causes import RefusedJobError, known_cause
from spark_jobs.runtime.folder import Folder

if TYPE_CHECKING:
    from pyspark.sql import SparkSession

GOOD: dict[str, Any] = {"job": "ingest", "topics": ["t"], "format": {"schema": {"id": "string", "lat": "double"}}}


def check(spark: SparkSession, place: Path, **more: Any) -> str:
    """What a job with this file is refused with in this place; empty when it may begin."""
    read, wrong = settings.read({**GOOD, **more})
    assert not wrong
    try:
        sink = sinks.make_sink(spark, read.sink, Folder(spark, str(place / "table")))
        prechecks.check(spark, read, sink, Folder(spark, str(place / "checkpoint")))
    except RefusedJobError as problem:
        return str(problem) if problem.advice else "refused without advice"
    return ""


@pytest.mark.parametrize(
    ("more", "words"),
    [
        ({"rules": {"a": "lat >"}}, "rules.a: [PARSE_SYNTAX_ERROR]"),
        ({"rules": {"ok": "lat > 1", "a": "latt > 1"}}, "rules.a: [UNRESOLVED_COLUMN.WITH_SUGGESTION]"),
        ({"rules": {"a": "lat + 1"}}, "rules.a: lat + 1 is of type double, not boolean"),
        ({"columns": {"day": "to_date(nothing)"}}, "columns.day: [UNRESOLVED_COLUMN"),
        ({"columns": {"up": "lat * 2", "day": "to_dte(id)"}}, "columns.day: [UNRESOLVED_ROUTINE]"),
        ({"rules": {"ok": "lat > 1", "a": "_timestamp < now()"}}, "rules.a: _timestamp < now() depends on the clock"),
        ({"rules": {"a": "lat > rand()"}}, "rules.a: lat > rand() depends on the clock or on random values"),
        ({"rules": {"a": "id in (select string(now()))"}}, "rules.a: id in (select string(now())) depends on"),
        (
            {"columns": {"up": "uuid()", "on": "length(up)"}, "rules": {"a": "on > 1"}},
            "rules.a: on > 1 depends on the clock or on random values",
        ),
    ],
)
def test_sql_that_means_nothing_is_found_before_any_record(
    spark: SparkSession, tmp_path: Path, more: dict[str, Any], words: str
) -> None:
    assert check(spark, tmp_path, **more).startswith(words)
    assert not (tmp_path / "table").exists()


def test_columns_may_tell_the_time_when_no_rule_looks_at_them(spark: SparkSession, tmp_path: Path) -> None:
    told = {"columns": {"came": "current_timestamp()", "key": "uuid()"}, "rules": {"a": "lat < 1", "b": "id > 'a'"}}
    assert check(spark, tmp_path, **told) == ""


def test_columns_may_come_when_the_file_says_so_and_never_go_or_change(spark: SparkSession, tmp_path: Path) -> None:
    assert check(spark, tmp_path) == ""
    wider = {"format": {"schema": {"id": "string", "lat": "double", "speed": "double"}}}
    assert check(spark, tmp_path, **wider) == "the table has no column speed"
    assert check(spark, tmp_path, **wider, sink={"new_columns": "add"}) == ""
    assert check(spark, tmp_path, **wider) == ""
    assert check(spark, tmp_path) == "column speed is in the table, but not in the job's file"
    retyped = {"format": {"schema": {"id": "string", "lat": "double", "speed": "string"}}}
    assert check(spark, tmp_path, **retyped) == "column speed is string in the job's file and double in the table"
    assert "partitioned by nothing" in check(spark, tmp_path, **wider, sink={"partition_by": ["id"]})


def test_a_table_and_a_checkpoint_that_do_not_belong_together_are_refused(spark: SparkSession, tmp_path: Path) -> None:
    table, checkpoint = Folder(spark, str(tmp_path / "table")), tmp_path / "checkpoint"
    table.save(batch_journal.description_file(0), {"first": 0, "batch": 0, "checkpoint": "one", "files": []})
    assert check(spark, tmp_path) == "the sink has batches up to 0 of another checkpoint"
    for folder in ("offsets", "commits"):
        (checkpoint / folder).mkdir(parents=True)
    (checkpoint / "metadata").write_text('{"id":"two"}')
    offsets = f"v1\n{json.dumps({'conf': {}})}\n" + '{"t":{"0":5}}'
    (checkpoint / "offsets" / "0").write_text(offsets)
    assert check(spark, tmp_path) == "the sink has batches up to 0 of another checkpoint"
    (checkpoint / "metadata").write_text('{"id":"one"}')
    assert check(spark, tmp_path) == ""
    (checkpoint / "commits" / "1").write_text("v1\n{}")
    assert check(spark, tmp_path) == "the checkpoint is at batch 1, but the sink has only batches up to 0"
    for damaged in (offsets[:-4], 'v1\n{"batchWatermarkMs":0,"conf":{}}\n', ""):
        (checkpoint / "offsets" / "0").write_text(damaged)
        assert "the checkpoint is damaged" in check(spark, tmp_path)
    (checkpoint / "metadata").write_text("")
    assert "the checkpoint is damaged" in check(spark, tmp_path)


MINE = {"job": "ingest", "topics": ["t"], "cluster_id": "one", "topic_ids": {"t": "id"}}


def test_a_checkpoint_is_noted_as_the_jobs_on_any_file_system_and_refused_to_others(
    spark: SparkSession, tmp_path: Path
) -> None:
    checkpoint, older = Folder(spark, str(tmp_path)), {**MINE}
    del older["topic_ids"]
    checkpoint_owner.claim(checkpoint, {})
    assert checkpoint.load(checkpoint_owner.FILE) is None
    (tmp_path / "sources" / "0").mkdir(parents=True)  # where a job begins that has read nothing yet
    checkpoint.save(checkpoint_owner.FILE, {**older, "topics": ["wrong"]})
    checkpoint_owner.claim(checkpoint, {**MINE, "topics": ["wrong"]})
    assert (tmp_path / "sources").exists()
    checkpoint_owner.claim(checkpoint, MINE)
    assert (checkpoint.load(checkpoint_owner.FILE), (tmp_path / "sources").exists()) == (MINE, False)
    (tmp_path / "offsets").mkdir()
    (tmp_path / "offsets" / "0").write_text('v1\n{}\n{"t":{"0":5}}')
    checkpoint_owner.claim(checkpoint, MINE)
    for other, words in (
        ({"topics": ["u"]}, "belongs to another job: topics is ['t'] in the checkpoint, ['u'] in this job"),
        ({"cluster_id": "two"}, "belongs to another job: cluster id is one in the checkpoint, two in this job"),
        ({"topic_ids": {"t": "new"}}, "t was deleted and created again since this job read it"),
    ):
        with pytest.raises(RefusedJobError, match=re.escape(words)):
            checkpoint_owner.claim(checkpoint, {**MINE, **other})
    for before in (older, None):  # older versions knew no ids, and noted nothing on other file systems
        checkpoint.remove(checkpoint_owner.FILE)
        if before:
            checkpoint.save(checkpoint_owner.FILE, before)
        checkpoint_owner.claim(checkpoint, MINE)
        assert checkpoint.load(checkpoint_owner.FILE) == MINE


def test_a_folder_with_files_of_others_is_no_sink(spark: SparkSession, tmp_path: Path) -> None:
    (tmp_path / "table").mkdir()
    (tmp_path / "table" / "part-0.parquet").touch()
    assert "has files that no ingest wrote" in check(spark, tmp_path)


def test_causes_are_one_line_with_advice() -> None:
    java = "java.lang.Exception: aborted\n\tat org.x\nCaused by: java.io.IOException: No space left on device\n"
    assert known_cause(java)[0] == "the disk is full (Caused by: java.io.IOException: No space left on device)"
    python = (
        'Traceback (most recent call last):\n  File "x"\n    y\nspark_jobs.runtime.error_causes.RefusedJobError: why\n'
    )
    assert known_cause(f"[FOREACH] Return Message: {python}\nat z")[0] == "why"


def test_what_a_power_cut_left_empty_is_planned_again_and_what_output_depends_on_is_kept(
    spark: SparkSession, tmp_path: Path
) -> None:
    files = ("metadata", "sources/0/0", "offsets/0", "commits/0")
    for name in files:
        (tmp_path / name).parent.mkdir(parents=True, exist_ok=True)

    def left(done: int, **written: str) -> list[str]:
        for name in files:
            (tmp_path / name).write_text(written.get(name.partition("/")[0], ""))
        checkpoint_owner.claim(Folder(spark, str(tmp_path)), {}, done)
        return [name for name in files if (tmp_path / name).exists()]

    offsets = 'v1\n{}\n{"t":{"0":5}}'
    assert left(-1) == []
    assert left(-1, metadata='{"id":"c"}', sources="v1\n{}") == ["metadata", "sources/0/0"]
    assert left(0, metadata='{"id":"c"}', sources="v1\n{}", offsets=offsets) == list(files[:3])
    with pytest.raises(RefusedJobError, match=r"the checkpoint is damaged: .*offsets/0 cannot be read"):
        left(0)


def test_a_file_that_is_damaged_below_its_checksum_is_named(spark: SparkSession, tmp_path: Path) -> None:
    Folder(spark, str(tmp_path / "checkpoint")).save("metadata", {"id": "one"})
    (tmp_path / "checkpoint" / "metadata").write_text('{"id": "two"}')
    with pytest.raises(Exception, match="ChecksumException") as problem:
        check(spark, tmp_path)
    meaning, advice = known_cause(str(problem.value))
    assert meaning.startswith("a file of the checkpoint or of the table is damaged (")
    assert f"{tmp_path}/checkpoint/metadata" in meaning
    assert "\n" not in meaning
    assert "restore it from a backup" in advice


def test_folders_that_hosts_do_not_share_rightly_are_named() -> None:
    task = "Job aborted: Lost task 0.3: java.io.IOException: Mkdirs failed to create file:/lake/t (exists=false)"
    assert known_cause(task)[0].startswith("executors have no write permission where the driver has (")
    assert known_cause("[UNABLE_TO_INFER_SCHEMA] Unable to infer schema for Parquet.")[0].startswith(
        "the driver does not see the files that executors wrote ("
    )
