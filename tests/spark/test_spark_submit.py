"""The jobs without kcluster, as docs/jobs.md tells it."""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path

from kcluster.clients.spark import connector, runtime
from kcluster.jobs import job_file
from tests.integration.conftest import Live
from tests.spark.conftest import PATIENCE


def test_the_documented_line_runs_the_example_as_it_is(live: Live, tmp_path: Path, project: Path) -> None:
    live.run("topic", "create", "trucks_gps", "-p", "2", "-r", "3", "-n", live.name)
    report = {"truck_id": "a", "lat": 52.5, "lon": 13.4, "speed": 80, "time": "2026-11-18T11:00:00Z"}
    live.run("produce", "trucks_gps", "-n", live.name, input=json.dumps(report) + "\n")
    (line,) = re.findall(r"^    (spark-submit .*)$", (project / "docs" / "jobs.md").read_text(), re.M)
    meant = {
        "spark-submit": runtime.require().submit,
        "CONNECTOR_JARS": ",".join(map(str, connector.kafka_jars(print))),
        "spark_jobs/run.py": project / "spark_jobs" / "run.py",
        "ingest.yml": job_file.example("ingest"),
        "HOST:PORT": live.bootstrap,
    }
    words = [str(meant.get(word, word)) for word in line.split()]
    path = f"{Path(sys.executable).parent}:{os.environ['PATH']}"  # its python3 is the one that has PySpark
    surroundings = {**os.environ, "PATH": path, "SPARK_LOCAL_IP": "127.0.0.1"}
    with (tmp_path / "log").open("w") as log:
        done = subprocess.run(words, stdout=log, stderr=log, cwd=tmp_path, timeout=PATIENCE, env=surroundings)
    assert done.returncode == 0, (tmp_path / "log").read_text()
    job = tmp_path / "trucks-ingest"
    assert json.loads((job / "state.json").read_text())["state"] == "finished"
    assert (job / "checkpoint" / "commits" / "0").is_file()
    assert len(list(job.glob("table/event_date=2026-11-18/*.parquet"))) == 1
