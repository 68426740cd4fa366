"""Of two drivers one is refused, however they were started, and a killed one is in nobody's way."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pytest

from kcluster.clients.spark.submit_command import entry_point
from kcluster.jobs import locations, registry
from spark_jobs.runtime import process_lock
from spark_jobs.runtime.error_causes import RefusedJobError
from tests.children import child

HOLD = """\
import sys, time
from pathlib import Path
sys.path.insert(0, sys.argv[1])
from spark_jobs.runtime import process_lock
process_lock.lock_folder(Path(sys.argv[2]), "one")
process_lock.lock_checkpoint("file:" + sys.argv[2] + "/checkpoint")
print("held", flush=True)
time.sleep(600)
"""


def test_a_folder_and_a_checkpoint_have_one_driver_until_it_dies(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(process_lock, "WITHIN", 0.2)
    command = [sys.executable, "-c", HOLD, str(entry_point().parent.parent), str(tmp_path)]
    with child(command, stdout=subprocess.PIPE, text=True) as driver:
        assert driver.stdout
        assert driver.stdout.readline() == "held\n"
        with pytest.raises(RefusedJobError, match="job one is already running"):
            process_lock.lock_folder(tmp_path, "one")
        process_lock.lock_folder(tmp_path, "two")  # another job may report to the same folder
        with pytest.raises(RefusedJobError, match=r"checkpoint .* is in use by a running job") as refused:
            process_lock.lock_checkpoint(str(tmp_path / "checkpoint"))
        assert "its own checkpoint and sink" in refused.value.advice
        locks = [tmp_path / "one.lock", tmp_path / "checkpoint" / locations.LOCK]
        assert [registry.is_locked(lock) for lock in locks] == [True, True]  # as the CLI sees it
        driver.kill()
        assert not registry.is_locked(locks[0], within=10)
    assert [registry.is_locked(lock) for lock in (*locks, tmp_path / "none.lock")] == [False, False, False]
    process_lock.lock_folder(tmp_path, "one")
    process_lock.lock_checkpoint(str(tmp_path / "checkpoint"))


def test_remote_checkpoints_are_not_locked_and_a_folder_in_place_of_a_lock_is_refused(tmp_path: Path) -> None:
    process_lock.lock_checkpoint("s3a://bucket/checkpoint")
    process_lock.lock_checkpoint("")
    (tmp_path / process_lock.CHECKPOINT).mkdir()
    with pytest.raises(RefusedJobError, match="cannot be locked: Is a directory"):
        process_lock.lock_checkpoint(str(tmp_path))


def test_a_second_driver_leaves_the_folder_of_the_first_as_it_is(tmp_path: Path) -> None:
    file = tmp_path / "job.json"
    file.write_text(json.dumps({"job": "trucks", "name": "drive", "topics": ["t"]}))
    (tmp_path / "state.json").write_text("{}")
    process_lock.lock_folder(tmp_path, "drive")
    command = [sys.executable, str(entry_point()), str(file), "--folder", str(tmp_path)]
    done = subprocess.run(command, capture_output=True, text=True, check=False)
    assert (done.returncode, done.stderr.splitlines()) == (
        7,
        [f"job drive is already running in {tmp_path}: stop that job first"],
    )
    assert (tmp_path / "state.json").read_text() == "{}"
