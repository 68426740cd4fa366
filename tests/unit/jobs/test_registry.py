from __future__ import annotations

import json
import os
import subprocess
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kcluster.clients.processes import Process, start
from kcluster.errors import LockedError, UsageError
from kcluster.jobs import registry
from kcluster.jobs.registry import Job, JobRecord, JobState
from spark_jobs.runtime import job_dir

GONE = Process(2**22 + 1, 1)


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KCLUSTER_HOME", str(tmp_path))
    return tmp_path


def job(cluster: str = "c", name: str = "one", process: Process = GONE) -> Job:
    place = registry.job_dir(cluster, name)
    place.mkdir(parents=True, exist_ok=True)
    record = JobRecord(
        "ingest", name, cluster, "id", ["t"], "h:9092", "local[*]", False, "/c", "/s", 1.0, "line", process
    )
    return registry.save_record(place, record)


@pytest.fixture
def running() -> Iterator[Job]:
    """A job whose process began another one and ignores a polite request to end."""
    place = registry.job_dir("c", "runs")
    place.mkdir(parents=True)
    environment = {**os.environ, registry.ENVIRONMENT_MARK: str(place)}
    script = "trap '' TERM; sleep 100 & while true; do wait; sleep 0.05; done"
    process = start(["/bin/sh", "-c", script], environment=environment, directory=place, output=place / "driver.log")
    made = job(name="runs", process=process)
    deadline = time.monotonic() + 10
    while len(made.processes()) < 2:  # the shell begins the other one when it comes to it
        assert time.monotonic() < deadline
        time.sleep(0.01)
    yield made
    made.end(within=0)


def test_a_record_is_read_back_as_it_was_written() -> None:
    made = job()
    assert registry.all_jobs() == [made]
    assert registry.pick("one") == registry.pick("c/one") == made
    assert (made.folder / "record.json").stat().st_mode & 0o077 == 0


def test_a_job_without_a_process_died_unless_it_wrote_a_final_state() -> None:
    made = job()
    assert made.state is JobState.DIED
    for told, state in (("starting", JobState.DIED), ("running", JobState.DIED), ("failed", JobState.FAILED)):
        (made.folder / "state.json").write_text(json.dumps({"state": told, "at": 1}))
        assert made.state is state


def test_a_job_that_runs_stops_once_it_is_asked_to(running: Job) -> None:
    assert running.state is JobState.STARTING
    (running.folder / "state.json").write_text('{"state": "running", "at": 1}')
    assert running.state is JobState.RUNNING
    running.request_stop()
    assert running.state is JobState.STOPPING


def test_a_request_to_stop_is_removed_by_the_run_that_it_stopped(running: Job) -> None:
    directory = job_dir.JobDir(running.folder)
    for how in ("stopped", "failed"):
        directory.write_state("running")
        running.request_stop()
        assert directory.stop_requested()
        directory.write_end(how)
        assert running.state == how
        assert not directory.stop_requested()


def test_ending_a_job_ends_all_that_it_began_also_when_the_first_is_gone(running: Job) -> None:
    os.kill(running.record.process.pid, 9)
    assert any(process != running.record.process for process in running.processes())
    assert running.end(within=0.2)
    assert running.processes() == []


def test_a_session_of_another_process_with_the_same_number_is_not_ended(running: Job) -> None:
    assert Job(running.folder.with_name("other"), running.record).processes() == []


def test_unknown_and_ambiguous_names_are_refused() -> None:
    job("a", "one")
    job("b", "one")
    with pytest.raises(UsageError) as several:
        registry.pick("one")
    assert several.value.resolution == "use CLUSTER/NAME: a/one, b/one"
    assert registry.pick("b/one").record.cluster == "b"
    with pytest.raises(UsageError) as unknown:
        registry.pick("onee")
    assert unknown.value.resolution.startswith("did you mean one")


def test_batches_are_returned_once_and_an_incomplete_line_is_left() -> None:
    made = job()
    file = made.folder / "progress.jsonl"
    assert made.batches() == ([], 0)
    assert made.last_batch() is None
    file.write_text('{"batch": 0}\n{"batch": 1}\n{"bat')
    told, place = made.batches()
    assert [batch["batch"] for batch in told] == [0, 1]
    assert made.last_batch() == {"batch": 1}
    file.write_text('{"batch": 0}\n{"batch": 1}\n{"batch": 2}\n')
    assert made.batches(place)[0] == [{"batch": 2}]
    assert made.batches(made.progress_size()) == ([], made.progress_size())


def test_a_line_that_a_full_disk_cut_off_is_passed_over_with_what_stands_behind_it() -> None:
    made = job()
    file = made.folder / "progress.jsonl"
    file.write_text('{"batch": 0}\n{"batch": 1, "rec{"batch": 2}\n')
    assert made.batches() == ([{"batch": 0}], file.stat().st_size)
    assert made.last_batch() == {"batch": 0}
    file.write_text('{"batch": 1, "rec{"batch": 2}\n')
    assert made.last_batch() is None
    file.write_text('{"batch": 1, "rec{"batch": 2}\n{"batch": 3}\n')
    assert made.batches()[0] == [made.last_batch()] == [{"batch": 3}]


def test_a_file_of_progress_that_is_long_is_begun_anew_and_read_on(monkeypatch: pytest.MonkeyPatch) -> None:
    made = job()
    monkeypatch.setattr(job_dir, "ROTATE_AT", 100)
    directory = job_dir.JobDir(made.folder)
    seen, place = [], 0
    for number in range(20):
        directory.append_progress(batch=number)
        batches, place = made.batches(place)
        seen += [batch["batch"] for batch in batches]
        assert made.last_batch() == batches[-1]
    assert seen == list(range(20))
    assert sum(file.stat().st_size for file in made.folder.glob("progress.jsonl*")) < 400


def test_of_two_that_submit_at_once_one_is_refused() -> None:
    place = registry.job_dir("c", "one")
    with (
        registry.submit_lock(place),
        pytest.raises(LockedError, match=f"pid {os.getpid()}"),
        registry.submit_lock(place),
    ):
        pass
    with registry.submit_lock(place):
        held = subprocess.run(["flock", "-n", str(place / "lock"), "true"], check=False)
        assert held.returncode == 1
