"""The end of `./run quickstart`: what it says and how it ends when a part of the pipeline cannot be had."""

from __future__ import annotations

import subprocess
from pathlib import Path

import pytest

KCLUSTER = """\
kcluster() { echo "kcluster $*"; case "$*" in %s) return %d ;; esac; }
"""
"""Says what it was asked, and ends with a code when it was asked for one thing."""


def ended(project: Path, *lines: str, word: str = "pipeline") -> subprocess.CompletedProcess[str]:
    """The words of `run` after lines of ours that stand in for what they call."""
    script = "\n".join(["source ./run", "setup() { :; }", "spark() { :; }", *lines, word])
    return subprocess.run(["bash", "-c", script], capture_output=True, text=True, cwd=project, check=False)


def asked(done: subprocess.CompletedProcess[str]) -> list[str]:
    return [line.removeprefix("kcluster ") for line in done.stdout.splitlines() if line.startswith("kcluster ")]


def test_without_pyspark_the_quick_start_says_so_and_is_good(project: Path) -> None:
    done = ended(project, KCLUSTER % ("nothing", 1), "spark() { return 1; }", word="quickstart")
    assert done.returncode == 0
    assert "PySpark cannot be installed here" in done.stderr
    assert asked(done)[-1] == "smoke -n local"
    assert "The cluster runs on." in done.stdout


def test_the_whole_pipeline_is_asked_for_with_names_that_are_of_this_cluster(project: Path) -> None:
    done = ended(project, KCLUSTER % ("nothing", 1))
    assert (done.returncode, done.stderr) == (0, "")
    assert asked(done) == [
        "job submit trucks -n local --config spark_jobs/examples/quickstart-trucks.yml --once",
        "job submit ingest -n local --once",
        "job audit local/trucks-ingest",
        "job submit trucks -n local",
        "job submit latest -n local",
        "job dashboard local/latest --detach",
    ]


@pytest.mark.parametrize(
    ("runs", "told"),
    [
        ("job submit trucks -n local", "job status local/trucks"),
        ("job submit latest -n local", "job status local/latest"),
        ("job dashboard*", "job status local/latest-dashboard"),
    ],
)
def test_what_runs_already_is_shown_with_its_address(project: Path, runs: str, told: str) -> None:
    done = ended(project, KCLUSTER % (runs.replace(" ", "\\ "), 7))
    assert done.returncode == 0
    assert told in asked(done)
    assert "job dashboard local/latest --detach" in asked(done)


def test_jars_that_cannot_be_fetched_are_told_and_the_closing_words_come(project: Path) -> None:
    done = ended(project, KCLUSTER % ("job\\ submit\\ ingest*", 6), word="quickstart")
    assert done.returncode == 6
    assert asked(done)[-1] == "job submit ingest -n local --once"
    assert "the pipeline was not finished" in done.stderr
    assert "The cluster runs on." in done.stdout
