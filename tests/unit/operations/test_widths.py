"""The tables that are read most fit into 80 columns; `-o wide` has the other columns, JSON has all."""

from __future__ import annotations

import time
from io import StringIO
from pathlib import Path

import pytest

from kcluster import show
from kcluster.clients.processes import Process
from kcluster.jobs.job_view import JobView
from kcluster.jobs.registry import Job, JobRecord, JobState
from kcluster.operations.job.status import JobList
from kcluster.operations.release import KnownRelease, Listing
from kcluster.operations.status.status_result import ClusterLine, ClusterList, ClusterStatus, NodeStatus
from kcluster.results import Result
from spark_jobs.settings import JOBS

BOOTSTRAP = "127.0.0.1:9092,127.0.0.1:9093,127.0.0.1:9094"
NODE = NodeStatus(
    "controller-1",
    "kafka1",
    "controller",
    1,
    "kafka1.example.com:9093",
    "running",
    "controller",
    4194304,
    999999,
    2**31,
)
STATUS = ClusterStatus("production", "3.9.2", BOOTSTRAP, "", (NODE,) * 6, "", spark="4.1.3", features={"a.version": 21})
RELEASE = KnownRelease("3.9.2", "ZooKeeper or KRaft", 11, True, True, "ready", "/root/.cache/a/long/path", "maven")
RECORD = JobRecord(
    "dashboard", "latest-dashboard", "production", "id", [], BOOTSTRAP, "spark://h1:7077,h2:7077", False, "", "", 1.0,
    "", Process(1, 1),
)  # fmt: skip
JOB = JobView(
    Job(Path("/job"), RECORD), JobState.RUNNING, {}, {"at": time.time() - 99 * 60, "rate": 1e5, "lag": 1e6, "dead": 10}
)
CLUSTERS = ClusterList((ClusterLine("quickstart", "3.9.2", 6, 6, BOOTSTRAP, "options of `kcluster up`"),))


def lines(value: Result, form: show.OutputFormat) -> list[str]:
    out = StringIO()
    show.result(value, form, out=out)
    return out.getvalue().splitlines()


@pytest.mark.parametrize(
    ("value", "more"),
    [
        (STATUS, {"ID", "ADDRESS", "PID", "MEMORY"}),
        (CLUSTERS, {"MADE", "FROM"}),
        (JobList(JOBS, [JOB]), {"JOB", "MASTER"}),
        (Listing([RELEASE]), {"DIRECTORY"}),
    ],
)
def test_a_table_fits_into_80_columns_and_wide_has_the_rest(value: Result, more: set[str]) -> None:
    narrow, wide = lines(value, show.OutputFormat.TABLE), lines(value, show.OutputFormat.WIDE)
    assert max(map(len, narrow)) <= 80
    (header,) = (number for number, line in enumerate(narrow) if line.startswith(("NODE", "CLUSTER", "NAME", "VERS")))
    assert {*wide[header].split()} - {*narrow[header].split()} == more
