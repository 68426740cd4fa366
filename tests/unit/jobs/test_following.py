from __future__ import annotations

from pathlib import Path

import pytest

from kcluster.jobs.following import cause_in_log
from kcluster.jobs.job_view import batch_line

JVM = """\
WARNING: Using incubator modules
Exception in thread "main" org.apache.spark.SparkException: Job aborted.
\tat org.apache.spark.Foo.bar(Foo.scala:1)
Caused by: java.io.IOException: No space left on device
\tat java.base/java.io.FileOutputStream.writeBytes(Native Method)
\t... 10 more
"""


@pytest.mark.parametrize(
    ("log", "told"),
    [
        (JVM, "IOException: No space left on device"),
        ("Traceback\n  File x\nyaml.YAMLError: no colon\n", "YAMLError: no colon"),
        ("py4j.Py4JJavaError: An error occurred while calling x.\n: a.b.BadError: no master\n", "BadError: no master"),
        ("Error: Unrecognized option: --nonsense\n\nUsage: ...\n", "Error: Unrecognized option: --nonsense"),
        ("Killed\n\n", "Killed"),
        ("", "the log is empty"),
    ],
)
def test_the_cause_in_a_log_is_found(tmp_path: Path, log: str, told: str) -> None:
    (tmp_path / "log").write_text(log)
    assert cause_in_log(tmp_path / "log") == told


def test_a_log_that_is_not_there_is_no_problem(tmp_path: Path) -> None:
    assert cause_in_log(tmp_path / "none") == "the log is empty"


def test_a_batch_is_one_line() -> None:
    batch = {"batch": 3, "records": 12000, "seconds": 1.5, "rate": 8000, "lag": 0, "dead": 2}
    assert batch_line(batch) == "batch 3: 12,000 records in 1.5 s (8,000/s), lag 0, 2 dead letters"
