"""Jobs on real Spark and a real cluster: submitted, watched, killed, stopped and audited, or refused before."""

from __future__ import annotations

import json
import os
import signal
import socket
import stat
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager
from pathlib import Path
from typing import Any

from tests.children import child
from tests.integration.conftest import Live

PATIENCE = 300.0

INGEST = """\
job: ingest
name: {name}
topics: [{topic}]
every: 1s
format: {{kind: json, schema: {{truck: string, lat: double}}}}
rules: {{on_earth: lat between -90 and 90}}
"""

NO_PYSPARK = """\
from importlib.machinery import PathFinder
real = PathFinder.find_spec
def without(cls, name, path=None, target=None):
    return None if name == "pyspark" else real(name, path, target)
PathFinder.find_spec = classmethod(without)
"""


def run(live: Live, *args: str, code: int = 0, **env: str) -> subprocess.CompletedProcess[str]:
    done = subprocess.run(
        live.command("job", *args), capture_output=True, text=True, env={**live.env, **env}, timeout=PATIENCE
    )
    assert done.returncode == code, f"{args} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done


def status(live: Live, name: str) -> dict[str, Any]:
    return dict(json.loads(run(live, "status", name, "-o", "json").stdout))


def until(true: Callable[[], Any], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline, what
        time.sleep(0.1)


def topic(live: Live, name: str, records: int, bad: int = 0) -> str:
    """A topic with that many good records, and some that are none or break the rule."""
    live.run("topic", "create", name, "-p", "2", "-r", "3", "-n", "live")
    produce(live, name, records, bad)
    return name


def produce(live: Live, name: str, records: int, bad: int = 0) -> None:
    good = [json.dumps({"truck": f"truck-{number}", "lat": 47.5}) for number in range(records)]
    wrong = ["{oops" if number % 2 else '{"truck": "t", "lat": 99}' for number in range(bad)]
    live.run("produce", name, "-n", "live", input="\n".join([*good, *wrong]) + "\n")


def file(folder: Path, name: str, topic: str, more: str = "") -> str:
    path = folder / f"{name}.yml"
    path.write_text(INGEST.format(name=name, topic=topic) + more)
    return str(path)


def submit(live: Live, config: str, *more: str, code: int = 0, **env: str) -> subprocess.CompletedProcess[str]:
    return run(live, "submit", "ingest", "--config", config, "-n", "live", *more, code=code, **env)


def test_ingest_reads_each_record_once_and_what_a_dry_run_prints_really_runs(live: Live, tmp_path: Path) -> None:
    topic(live, "job-once", 500, bad=7)
    config = file(tmp_path, "once", "job-once")
    done = submit(live, config, "--once")
    assert "created topic job-once.dead-letters" in done.stderr
    assert "batch 0: " in done.stderr
    assert "7 dead letters" in done.stderr
    letters = live.run("topic", "describe", "job-once.dead-letters", "-n", "live", "-o", "json").stdout
    assert '"retention.ms": "-1"' in letters
    assert done.stdout.startswith("once finished after ")

    seen = status(live, "once")
    assert (seen["state"], seen["cluster"], seen["batch"]["rows"], seen["batch"]["dead"]) == (
        "finished",
        "live",
        500,
        7,
    )
    assert [each["name"] for each in json.loads(run(live, "list", "-o", "json").stdout)["submitted"]].count("once") == 1
    assert json.loads(run(live, "logs", "once", "-o", "json").stdout)["log"] == seen["log"]
    assert "batch 0" in run(live, "status", "live/once").stdout

    # The line of a dry run, pasted into a shell: it goes on where the job was, and there is nothing new.
    pasted = submit(live, config, "--once", "--dry-run").stdout
    assert status(live, "once")["state"] == "finished"
    subprocess.run(["sh", "-c", pasted], check=True, capture_output=True, timeout=PATIENCE, env=live.env)
    assert status(live, "once")["batch"] == seen["batch"]

    audit = json.loads(run(live, "audit", "once", "-o", "json").stdout)
    assert audit["ok"]
    assert sum(part["rows"] for part in audit["partitions"]) == 500
    assert sum(part["dead"] for part in audit["partitions"]) == 7
    no_other_job_goes_on_with_it(live, tmp_path, Path(seen["checkpoint"]))


def no_other_job_goes_on_with_it(live: Live, tmp_path: Path, checkpoint: Path) -> None:
    """What a job that has read something refuses before Spark starts: each ends with 4 and names the way out."""
    topic(live, "job-other", 1)
    said = submit(live, file(tmp_path, "once", "job-other"), "--once", code=4).stderr
    assert "belongs to another job\n  topics: job-once in the checkpoint, job-other in this job" in said
    assert "another --name" in said
    config = file(tmp_path, "once", "job-once", "columns: {north: lat > 0}\n")
    said = submit(live, config, "--once", code=4).stderr
    assert "has no column north" in said
    assert "sink.new_columns: add" in said

    config, told = file(tmp_path, "once", "job-once"), (checkpoint / "kcluster.json").read_text()
    (checkpoint / "kcluster.json").write_text(json.dumps({**json.loads(told), "cluster_id": "of-another"}))
    assert "cluster id: of-another in the checkpoint, " in submit(live, config, "--once", code=4).stderr
    (checkpoint / "kcluster.json").write_text(told)
    live.run("topic", "delete", "job-once", "-n", "live", "--confirm", "job-once")
    topic(live, "job-once", 900)
    said = submit(live, config, "--once", code=4).stderr
    assert "topic job-once was deleted and created again since this job read it" in said
    assert "another --name" in said


def test_a_job_that_stays_is_refused_twice_survives_kill_9_and_ends_in_order(live: Live, tmp_path: Path) -> None:
    topic(live, "job-stays", 50)
    places = f"checkpoint: {tmp_path}/checkpoint\nsink: {{path: {tmp_path}/table}}\n"
    config = file(tmp_path, "stays", "job-stays", places)
    assert "stays is running (pid " in submit(live, config).stdout
    until(lambda: (status(live, "stays")["batch"] or {}).get("rows") == 50, "the first batch")
    assert "is already running (pid " in submit(live, config, code=7).stderr
    other = file(tmp_path, "thief", "job-stays", f"sink: {{path: {tmp_path}/table}}\n")
    assert "is in use by the running job stays" in submit(live, other, code=7).stderr
    # The same file, but a folder of its own: the cluster has another name by its address.
    by_address = run(live, "submit", "ingest", "--config", config, "-b", live.bootstrap, code=7).stderr
    assert f"checkpoint {tmp_path}/checkpoint is in use by the running job stays" in by_address

    seen = status(live, "stays")
    assert seen["state"] == "running"
    os.kill(seen["process"]["pid"], signal.SIGKILL)
    until(lambda: status(live, "stays")["state"] != "running", "notice of the death")
    told = run(live, "status", "stays").stdout
    assert "stays: died" in told
    assert "kcluster job submit ingest ... continues from its checkpoint" in told
    assert "stays is not running: died" in run(live, "stop", "stays").stdout
    assert mates(seen["process"]["pid"]) == []

    produce(live, "job-stays", 30)
    command = live.command("job", "submit", "ingest", "--config", config, "-n", "live", "--follow")
    with child(command, env=live.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as follower:
        assert follower.stderr
        line = next(line for line in follower.stderr if line.startswith("batch "))
        follower.send_signal(signal.SIGINT)
        out, told = follower.communicate(timeout=PATIENCE)
    assert follower.returncode == 130, told
    assert "batch 1: 30 records" in line
    assert "stopping stays after the running batch" in told
    assert out.startswith("stays stopped after ")
    assert status(live, "stays")["state"] == "stopped"


def mates(session: int) -> list[str]:
    """The processes that run in a session; one that has ended may still wait for its parent to notice."""
    done = subprocess.run(
        ["ps", "-o", "stat=,args=", "--sid", str(session)], capture_output=True, text=True, check=False
    )
    return [line for line in done.stdout.splitlines() if not line.startswith("Z")]


def test_a_plain_job_is_followed_stopped_and_ended_at_once(live: Live, tmp_path: Path) -> None:
    live.run("topic", "create", "job-trucks", "-p", "2", "-n", "live")
    config = tmp_path / "trucks.yml"
    config.write_text("job: trucks\nname: drive\ntopics: [job-trucks]\ntrucks: 5\nevery: 0.1\n")
    for how in ((), ("--now",)):
        run(live, "submit", "trucks", "--config", str(config), "-n", "live")
        until(lambda: status(live, "drive")["batch"], "progress")
        assert run(live, "stop", "drive", *how).stdout == "stopped drive\n"
        assert status(live, "drive")["state"] == "stopped"


def test_what_cannot_work_is_refused_before_spark_starts(live: Live, tmp_path: Path) -> None:
    topic(live, "job-refused", 1)
    topic(live, "job-wrong", 1)
    submit(live, file(tmp_path, "refused", "job-wrong"), "--dry-run")
    right = file(tmp_path, "refused", "job-refused")
    submit(live, right, "--dry-run")  # nothing was read yet, so the file may still be corrected

    with black_hole() as silent:
        for address in ("127.0.0.1:1", silent):
            begun = time.monotonic()
            away = run(live, "submit", "ingest", "--config", right, "-b", address, code=6)
            assert f"no broker answers at {address}" in away.stderr
            assert time.monotonic() - begun < 10

    missing = file(tmp_path, "missing", "job-refuse")
    assert "did you mean job-refused" in submit(live, missing, code=2).stderr

    nowhere = file(tmp_path, "nowhere", "job-refused", "sink: {path: /proc/nothing}\n")
    assert "sink /proc/nothing is not writable" in submit(live, nowhere, code=4).stderr
    apart = submit(live, right, "--master", "spark://h1:7077", code=4).stderr
    assert "is a folder of this machine" in apart
    assert "did you mean ingest?" in run(live, "submit", "ingets", "-n", "live", code=2).stderr
    assert "kcluster job list" in run(live, "status", "nobody", code=2).stderr

    wrong = tmp_path / "wrong.yml"
    wrong.write_text("job: ingest\ntopics: job\nformt: {kind: json}\nevery: soon\n")
    said = run(live, "validate", str(wrong), code=2).stderr
    assert "formt: unknown key; did you mean format?" in said
    assert "topics: must be a list" in said
    assert "is valid" in run(live, "validate", right).stdout


@contextmanager
def black_hole() -> Iterator[str]:
    """An address of which nothing comes back, as behind a firewall that drops: a door whose queue is full."""
    with ExitStack() as open_:
        door = open_.enter_context(socket.socket())
        door.bind(("127.0.0.1", 0))
        door.listen(0)
        for _ in range(4):
            waiting = open_.enter_context(socket.socket())
            waiting.setblocking(False)
            waiting.connect_ex(door.getsockname())
        yield "127.0.0.1:{1}".format(*door.getsockname())


def test_without_pyspark_or_java_the_error_says_what_to_install(live: Live, tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(NO_PYSPARK)
    config = file(tmp_path, "bare", "job-bare")
    said = submit(live, config, code=4, PYTHONPATH=str(tmp_path)).stderr
    assert "PySpark is not installed" in said
    assert f"try: {sys.executable} -m pip install pyspark==4.1.3\n" in said
    run(live, "list", PYTHONPATH=str(tmp_path))
    said = submit(live, config, code=4, JAVA_HOME=str(tmp_path)).stderr
    assert "needs Java 17" in said
    assert "default-jre-headless" in said
    (tmp_path / "bin").mkdir()
    (tmp_path / "bin" / "java").write_text("#!/bin/sh\necho 'openjdk version \"11.0.22\" 2024-01-16' >&2\n")
    (tmp_path / "bin" / "java").chmod(0o755)
    said = submit(live, config, code=4, JAVA_HOME=str(tmp_path)).stderr
    assert "Java 11.0.22 is too old: Spark 4.1.3 needs Java 17 or newer" in said
    assert "JAVA_HOME" in said


def test_secrets_are_in_one_file_of_the_owner_and_nowhere_else(live: Live, tmp_path: Path) -> None:
    topic(live, "job-secret", 1)
    config = file(tmp_path, "secret", "job-secret")
    client = tmp_path / "client.properties"
    client.write_text("ssl.key.password=hunter2\n")
    done = submit(live, config, "--dry-run", "-o", "json", "--client-config", str(client))
    assert "hunter2" not in done.stdout + done.stderr
    holders = [path for path in (live.home / "jobs/live/secret").rglob("*") if holds(path, "hunter2")]
    assert [path.name for path in holders] == ["clients.json"]
    assert stat.S_IMODE(holders[0].stat().st_mode) == 0o600
    client.write_text("sasl.username=me\nsasl.password=hunter2\n")
    said = submit(live, config, "--client-config", str(client), code=2).stderr
    assert "sasl.username is a property of librdkafka" in said


def holds(path: Path, word: str) -> bool:
    return path.is_file() and word in path.read_text()


def test_a_failure_of_spark_is_one_line_and_the_name_of_the_log(live: Live, tmp_path: Path) -> None:
    topic(live, "job-fails", 1)
    said = submit(live, file(tmp_path, "fails", "job-fails"), "--master", "local[nonsense", code=8).stderr
    told = next(line for line in said.splitlines() if line.startswith("error:"))
    assert told.endswith("SparkException: Could not parse Master URL: 'local[nonsense'")
    assert len(said.splitlines()) < 6
    assert "driver.log" in said
    assert "at org.apache.spark.SparkContext" in run(live, "logs", "fails", "--last", "500").stdout
