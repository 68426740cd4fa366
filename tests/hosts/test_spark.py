"""A job on the Spark of hosts: refused when it cannot run there, and nothing lost or doubled when parts of it die."""

from __future__ import annotations

import json
import stat
import time
from collections.abc import Callable, Iterator
from contextlib import ExitStack, contextmanager, suppress
from pathlib import Path
from typing import Any

from tests import progress
from tests.hosts.fleet import Fleet
from tests.hosts.spark import SECRET, lake
from tests.hosts.under_load import under_load

PATIENCE = 600.0

NUMBERS = """\
job: ingest
name: {name}
topics: [{name}]
every: 1s
format: {{kind: csv, schema: {{n: bigint}}}}
rules: {{lucky: n % 1000 <> 13}}
sink: {{path: {lake}/{name}}}
spark: {{spark.executor.extraJavaOptions: "-XX:TieredStopAtLevel=1"}}
checkpoint: {lake}/{name}-checkpoint
"""


def submit(fleet: Fleet, config: Path, *more: str, code: int = 0) -> str:
    """What `job submit` says of a job that reads the fleet's topics."""
    words = ["job", "submit", "ingest", "--config", str(config), "-i", str(fleet.inventory), *more]
    done = fleet.run(*words, check=False)
    assert done.returncode == code, f"{done.stdout}\n{done.stderr}"
    return done.stdout + done.stderr


def told(fleet: Fleet, *words: str) -> dict[str, Any]:
    return dict(json.loads(fleet.run(*words, "-o", "json").stdout))


def nodes(fleet: Fleet) -> dict[str, dict[str, Any]]:
    done = fleet.run("status", "-i", str(fleet.inventory), "-o", "json", check=False)
    return {node["node"]: node for node in json.loads(done.stdout)["nodes"]}


def leader(fleet: Fleet) -> str:
    """The host whose Spark master leads; empty while none does."""
    led = [node for name, node in nodes(fleet).items() if name.startswith("spark") and node["role"] == "leader"]
    return str(led[0]["host"]) if led else ""


def until(true: Callable[[], Any], what: str) -> None:
    deadline = time.monotonic() + PATIENCE
    while not true():
        assert time.monotonic() < deadline, what
        time.sleep(0.5)


def batches(fleet: Fleet, name: str) -> list[dict[str, Any]]:
    """What the job told of its batches: from its file, because commands cost time that the hosts need."""
    folder = fleet.home / "jobs/triospark" / name
    assert json.loads((folder / "state.json").read_text())["state"] == "running"
    return progress.batches(folder)


def goes_on(fleet: Fleet, name: str) -> None:
    """Wait until a batch is done that was begun after this."""
    before = len(batches(fleet, name))
    until(lambda: len(batches(fleet, name)) > before + 1, f"batches after {before}")


def command_lines() -> list[bytes]:
    """Of every process on this machine that does not end meanwhile."""
    found = []
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        with suppress(FileNotFoundError, ProcessLookupError):
            found.append(file.read_bytes())
    return found


def keeps_the_secret(fleet: Fleet, name: str) -> None:
    """Neither the job's record, nor its settings, nor a process here or on the hosts shows it."""
    folder = fleet.home / "jobs/triospark" / name
    showing = [file.name for file in folder.iterdir() if file.is_file() and SECRET in file.read_text(errors="replace")]
    assert showing == ["spark.properties"]
    assert stat.S_IMODE((folder / "spark.properties").stat().st_mode) == 0o600
    here = command_lines()
    assert any(b"SparkSubmit" in words and str(folder).encode() in words for words in here)
    there = fleet.lab.ssh("h3", "cat /proc/[0-9]*/cmdline 2>/dev/null || true").encode()
    assert b"CoarseGrainedExecutorBackend" in there
    assert SECRET.encode() not in b"".join([*here, there])


@contextmanager
def running(fleet: Fleet, folder: Path, name: str) -> Iterator[Path]:
    """A job that reads the topic of its name, submitted as users do; ended with the block."""
    config = folder / f"{name}.yml"
    config.write_text(NUMBERS.format(name=name, lake=lake(fleet)))
    submit(fleet, config, "--shared-path")
    try:
        yield config
    finally:
        fleet.run("job", "stop", name, "--now", check=False)


def test_workers_and_the_leading_master_killed_under_a_job_lose_nothing_and_double_nothing(
    sparks: Fleet, tmp_path: Path
) -> None:
    with ExitStack() as job:
        with under_load(sparks, sparks.bootstrap, "numbers") as load:
            config = job.enter_context(running(sparks, tmp_path, "numbers"))
            goes_on(sparks, "numbers")
            assert "is already running" in submit(sparks, config, "--shared-path", code=7)
            keeps_the_secret(sparks, "numbers")

            sparks.lab.ssh("h2", "systemctl kill --signal=KILL spark-worker")  # with its executors
            goes_on(sparks, "numbers")
            until(lambda: leader(sparks), "a master leads")
            first = leader(sparks)
            sparks.lab.ssh(first, "systemctl kill --signal=KILL spark-master")
            goes_on(sparks, "numbers")
            until(lambda: leader(sparks) not in ("", first), "the other master leads")
            sparks.lab.ssh("h3", "systemctl kill --signal=KILL spark-worker")  # the new leader finds another executor
            goes_on(sparks, "numbers")
        load.assert_served()
        until(lambda: sum(batch["records"] for batch in batches(sparks, "numbers")) >= load.acknowledged, "all is read")
        assert "stopped numbers" in sparks.run("job", "stop", "numbers").stdout

    audit = told(sparks, "job", "audit", "numbers")
    assert audit["ok"]
    rows, dead = (sum(part[what] for part in audit["partitions"]) for what in ("rows", "dead"))
    assert (rows, dead) == (load.acknowledged - dead, sum(number % 1000 == 13 for number in load.numbers))
    until(lambda: all(node["state"] == "running" for node in nodes(sparks).values()), "systemd has brought all back")


def test_what_cannot_run_on_the_hosts_is_said_before_spark_starts(sparks: Fleet, tmp_path: Path) -> None:
    sparks.run("topic", "create", "refused", "-p", "1", "-i", str(sparks.inventory))
    config = tmp_path / "refused.yml"
    config.write_text(NUMBERS.format(name="refused", lake=lake(sparks)))
    assert "is a folder of this machine" in submit(sparks, config, code=4)
    assert " --master local " in submit(sparks, config, "--master", "local", "--dry-run")
    line = submit(sparks, config, "--shared-path", "--dry-run")
    assert " --master spark://10.77.0." in line
    assert "--jars" not in line
    assert SECRET not in line

    config.write_text(config.read_text().replace("spark: {", "spark: {spark.executor.memory: 2g, "))
    said = submit(sparks, config, "--shared-path", code=4)
    assert "no worker of triospark is large enough for an executor of 1 core and 2048 MiB" in said
