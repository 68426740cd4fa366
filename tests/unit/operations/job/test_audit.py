from __future__ import annotations

from pathlib import Path

import pytest

from kcluster.clients.processes import Process
from kcluster.errors import SparkError
from kcluster.jobs.registry import Job, JobRecord
from kcluster.operations.job import audit

RECORD = JobRecord(
    "ingest", "one", "c", "id", ["t"], "h:9092", "spark://h1:7077", False, "/c", "/s", 1.0, "line", Process(1, 1)
)
STARVED = "WARN TaskSchedulerImpl: Initial job has not accepted any resources; check your cluster UI\n"


def test_an_audit_that_gets_no_executor_is_given_up_after_a_while(tmp_path: Path) -> None:
    job, log = Job(tmp_path, RECORD), tmp_path / "audit.log"
    audit.require_executor(job, log)
    log.write_text(2 * STARVED)
    audit.require_executor(job, log)
    log.write_text(3 * STARVED)
    with pytest.raises(SparkError, match="spark://h1:7077 has no executor for the audit of one"):
        audit.require_executor(job, log)
