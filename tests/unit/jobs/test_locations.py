from __future__ import annotations

import fcntl
import json
import os
import stat
from dataclasses import asdict, replace
from pathlib import Path

import pytest

from kcluster.clients.processes import Process
from kcluster.errors import LockedError, RefusedError
from kcluster.jobs import locations, registry
from kcluster.jobs.locations import JobIdentity

MINE = JobIdentity("ingest", "one", ["a", "b"], "/lake/one", "cluster-1", {"a": "id-a", "b": "id-b"})


def test_a_checkpoint_and_a_sink_of_a_running_job_are_refused_whatever_it_is_called(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KCLUSTER_HOME", str(tmp_path))
    mine, theirs = (registry.job_dir(cluster, "one") for cluster in ("live", "127.0.0.1_9092"))
    theirs.mkdir(parents=True)
    running = Process(os.getpid(), int(Path("/proc/self/stat").read_text().split()[21]))
    record = registry.JobRecord(
        "ingest", "one", "127.0.0.1_9092", "id", ["t"], "h", "local[*]", False, "/c", "/s", 1, "", running
    )
    registry.save_record(theirs, record)
    with pytest.raises(LockedError, match="checkpoint /c is in use by the running job one") as refused:
        locations.require_unused(mine, "/c", "/other")
    assert "kcluster job stop 127.0.0.1_9092/one" in refused.value.resolution
    with pytest.raises(LockedError, match="sink /s is in use"):
        locations.require_unused(mine, "/other", "/s")
    locations.require_unused(theirs, "/c", "/s")
    locations.require_unused(mine, "/other", "")


def test_a_checkpoint_locked_by_another_users_job_is_refused(tmp_path: Path) -> None:
    with (tmp_path / locations.LOCK).open("w") as held:
        fcntl.flock(held, fcntl.LOCK_EX)
        with pytest.raises(LockedError, match="that was not submitted on this machine"):
            locations.require_unused(tmp_path / "job", str(tmp_path), "")
    locations.require_unused(tmp_path / "job", str(tmp_path), "")


def begun(folder: Path) -> Path:
    """A checkpoint of ours that something was read with, as the driver leaves it."""
    (folder / "offsets").mkdir(parents=True)
    (folder / "offsets" / "6").write_text('v1\n{}\n{"a": {"0": 5}}')
    (folder / "kcluster.json").write_text(json.dumps(asdict(MINE)))
    return folder


def refused(folder: Path, mine: JobIdentity = MINE) -> RefusedError:
    with pytest.raises(RefusedError) as problem:
        locations.require_owner(str(folder), mine)
    assert problem.value.resolution
    return problem.value


def test_a_new_checkpoint_and_ones_own_are_not_refused(tmp_path: Path) -> None:
    locations.require_owner(str(tmp_path / "new"), MINE)
    assert not (tmp_path / "new" / "kcluster.json").exists()  # the driver notes it, not a dry run
    locations.require_owner(str(begun(tmp_path / "own")), MINE)


@pytest.mark.parametrize(
    ("other", "told"),
    [
        (replace(MINE, cluster_id="cluster-2"), "cluster id: cluster-1 in the checkpoint, cluster-2 in this job"),
        (replace(MINE, topics=["a"]), "topics: a, b in the checkpoint, a in this job"),
        (replace(MINE, job="alerts"), "job: ingest in the checkpoint, alerts in this job"),
        (replace(MINE, sink="/lake/two"), "sink: /lake/one in the checkpoint, /lake/two in this job"),
    ],
)
def test_the_checkpoint_of_another_is_refused_and_the_difference_named(
    tmp_path: Path, other: JobIdentity, told: str
) -> None:
    problem = refused(begun(tmp_path / "c"), other)
    assert problem.details == told
    assert "--name" in problem.resolution


def test_a_checkpoint_that_nothing_was_read_with_may_become_anybodys(tmp_path: Path) -> None:
    (begun(tmp_path / "c") / "offsets" / "6").unlink()
    locations.require_owner(str(tmp_path / "c"), replace(MINE, topics=["other"]))


def test_a_topic_that_was_deleted_and_created_again_is_another_one(tmp_path: Path) -> None:
    problem = refused(begun(tmp_path / "c"), replace(MINE, topic_ids={"a": "id-a", "b": "id-new"}))
    assert problem.message.startswith("topic b was deleted and created again since this job read it")
    assert "--name" in problem.resolution
    locations.require_owner(str(tmp_path / "c"), replace(MINE, topic_ids={}))  # brokers that give none


def test_a_checkpoint_of_an_older_version_knows_no_ids_and_goes_on(tmp_path: Path) -> None:
    folder = begun(tmp_path / "c")
    written = {key: value for key, value in asdict(MINE).items() if key != "topic_ids"}
    (folder / "kcluster.json").write_text(json.dumps(written))
    locations.require_owner(str(folder), MINE)


@pytest.mark.parametrize("broken", ["offsets/7", "commits/12", "metadata", "kcluster.json"])
def test_a_damaged_checkpoint_is_refused_and_the_file_named(tmp_path: Path, broken: str) -> None:
    folder = begun(tmp_path / "c")
    (folder / "commits").mkdir()
    (folder / broken).write_text("v1\n{half")
    problem = refused(folder)
    assert "is damaged" in problem.message
    assert problem.details == str(folder / broken)


@pytest.mark.parametrize("empty", ["offsets/7", "commits/12", "metadata"])
def test_what_a_power_cut_left_empty_is_left_to_the_driver(tmp_path: Path, empty: str) -> None:
    folder = begun(tmp_path / "c")
    (folder / "commits").mkdir()
    (folder / empty).write_text("")
    locations.require_owner(str(folder), MINE)


def test_a_sound_checkpoint_is_not_refused(tmp_path: Path) -> None:
    folder = begun(tmp_path / "c")
    (folder / "metadata").write_text('{"id": "x"}')
    (folder / "offsets" / ".6.crc").write_bytes(b"\xff\x00")
    locations.require_owner(str(folder), MINE)


def test_a_checkpoint_without_an_owner_is_refused(tmp_path: Path) -> None:
    (tmp_path / "offsets").mkdir()
    assert "was not created by kcluster" in refused(tmp_path).message


def test_a_sink_whose_checkpoint_is_gone_is_refused(tmp_path: Path) -> None:
    batches = tmp_path / "sink" / "_kcluster" / "batches"
    batches.mkdir(parents=True)
    sink, checkpoint = str(tmp_path / "sink"), str(tmp_path / "checkpoint")
    locations.require_checkpoint_of_sink(sink, checkpoint)
    (batches / "000000000.json").write_text("{}")
    with pytest.raises(RefusedError, match=r"has rows, but its checkpoint .* is missing"):
        locations.require_checkpoint_of_sink(sink, checkpoint)
    (tmp_path / "checkpoint" / "offsets").mkdir(parents=True)
    (tmp_path / "checkpoint" / "offsets" / "0").write_text("v1")
    locations.require_checkpoint_of_sink(sink, checkpoint)


def test_a_full_disk_and_a_file_in_place_of_a_folder_are_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RefusedError, match="is not writable"):
        locations.require_writable(str(tmp_path / "file"))
    monkeypatch.setattr(locations, "LEAST_FREE", 1 << 62)
    with pytest.raises(RefusedError, match="is full"):
        locations.require_writable(str(tmp_path))


def test_folders_in_one_that_hands_on_its_group_may_be_written_by_it(tmp_path: Path) -> None:
    shared = tmp_path / "shared"
    shared.mkdir()
    locations.require_writable(str(shared / "own"))
    assert not (shared / "own").stat().st_mode & stat.S_IWGRP
    shared.chmod(0o2775)
    locations.require_writable(str(shared / "lake" / "table"))
    for folder in (shared / "lake", shared / "lake" / "table"):
        assert stat.S_IMODE(folder.stat().st_mode) == 0o2775


def test_folders_of_this_machine_are_for_a_master_of_this_machine(tmp_path: Path) -> None:
    locations.require_shared([str(tmp_path)], "local[2]", confirmed=False)
    locations.require_shared(["s3a://bucket/x", ""], "yarn", confirmed=False)
    locations.require_shared([str(tmp_path)], "yarn", confirmed=True)
    for path in (str(tmp_path), f"file:{tmp_path}"):
        with pytest.raises(RefusedError, match="is a folder of this machine"):
            locations.require_shared([path], "spark://h1:7077", confirmed=False)


def test_relative_paths_are_beside_the_file_and_uris_stay(tmp_path: Path) -> None:
    assert locations.absolute_path("lake", tmp_path) == str(tmp_path / "lake")
    assert locations.absolute_path("/lake", tmp_path) == "/lake"
    assert locations.absolute_path("hdfs://n/lake", tmp_path) == "hdfs://n/lake"
    assert locations.local_path("file:///a%20b") == Path("/a b")
