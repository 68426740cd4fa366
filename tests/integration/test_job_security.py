"""A real broker behind SASL and TLS: every client takes its login from the inventory or from a file, Spark too."""

from __future__ import annotations

import json
import stat
import time
from collections.abc import Iterator
from pathlib import Path

import pytest

from kcluster.context import Target
from kcluster.operations.plan import of as planned
from kcluster.plan import Dynamic
from kcluster.rollout.dynamic_config import apply_dynamic
from kcluster.rollout.gates import Gates
from tests.secured import NAME, Secured, secured
from tests.unit.plan.observed_hosts import running

INGEST = """\
job: ingest
name: safe
topics: [positions]
format: {kind: json, schema: {truck: string, lat: double}}
rules: {on_earth: lat between -90 and 90}
"""
HUSH = "hush"
"""A part of the password that survives every way of escaping."""


@pytest.fixture(scope="module")
def cluster(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Secured]:
    with secured(tmp_path_factory.mktemp("secured")) as made:
        made.live.run("topic", "create", "positions", "-p", "2", "-i", str(made.inventory))
        yield made


def by_file(cluster: Secured, file: Path) -> list[str]:
    return ["-b", cluster.outside, "--client-config", str(file)]


def refused(cluster: Secured, code: int, *args: str) -> str:
    begun = time.monotonic()
    done = cluster.live.run(*args, check=False)
    assert done.returncode == code, done.stdout + done.stderr
    assert time.monotonic() - begun < 20  # two seconds where the machine is quiet
    assert HUSH not in done.stdout + done.stderr
    assert "Traceback" not in done.stderr
    return done.stderr


def test_commands_log_in_as_the_inventory_says_and_as_a_file_says(cluster: Secured) -> None:
    inventory = str(cluster.inventory)
    cluster.live.run("topic", "create", "words", "-i", inventory)
    cluster.live.run("produce", "words", "-i", inventory, input="one\ntwo\n")
    read = cluster.live.run("consume", "words", "-i", inventory, "--from-beginning", "-e")
    assert sorted(read.stdout.splitlines()) == ["one", "two"]
    assert "all checks passed" in cluster.live.run("health", "-i", inventory, "--wait", "30s").stdout
    smoked = cluster.live.run("smoke", "-i", inventory, "--messages", "20", "--timeout", "120").stdout
    assert "EXTERNAL" in smoked
    verdict = smoked.splitlines()[-1]
    assert verdict.startswith("smoke test passed: ")
    assert "not tested: listener INTERNAL: its protocol is PLAINTEXT, the client's SASL_SSL" in verdict

    for file in (cluster.client_file(), cluster.client_file("inline", inline=True)):
        assert "words" in cluster.live.run("topic", "list", *by_file(cluster, file)).stdout


def test_the_login_is_kept_for_the_owner_only(cluster: Secured) -> None:
    record = cluster.live.home / "local" / NAME / "record.json"
    assert stat.S_IMODE(record.stat().st_mode) == 0o600
    shown = [
        cluster.live.run(*what, "-i", str(cluster.inventory)) for what in (("validate",), ("render",), ("status",))
    ]
    assert not any(HUSH in done.stdout + done.stderr for done in shown)


def test_gates_and_settings_of_running_brokers_use_the_login(cluster: Secured, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCLUSTER_HOME", str(cluster.live.home))
    target = Target(name=NAME)
    gates = Gates(target.cluster, target.kafka.config)
    (broker,) = target.cluster.brokers
    assert gates.serving(target.cluster.nodes) == ()
    assert gates.leader(broker.kind) == broker.name
    assert ["without a spare replica" in reason.text for reason in gates.unsafe([broker])] == [True]
    wanted = [
        Dynamic("", "log.retention.bytes", "-1", "1000000000"),
        Dynamic(broker.name, "background.threads", "10", "11"),
    ]
    apply_dynamic(target.cluster, wanted, lambda _: None, gates.config)  # returns when the broker says that they count

    found = planned(target.cluster, running(target.cluster), target.kafka)
    told = f"{broker.name} has dynamic config background.threads=11 that is not in the inventory"
    assert told in found.notes
    assert not any("not known" in note for note in found.notes)


def test_what_is_wrong_with_the_login_is_one_error_and_soon(cluster: Secured, tmp_path: Path) -> None:
    job = tmp_path / "safe.yml"
    job.write_text(INGEST)
    foreign = tmp_path / "foreign.properties"
    foreign.write_text(f"security.protocol=SASL_SSL\nsasl.username=alice\nsasl.password={HUSH}\n")
    nowhere = cluster.client_file("nowhere", authority="nowhere.pem")
    password = cluster.client_file("password", password=f"{HUSH}, wrong")
    stranger = cluster.client_file("stranger", authority="stranger.pem")
    for command in (["topic", "list"], ["job", "submit", "ingest", "--config", str(job), "--once"]):
        told = refused(cluster, 4, *command, *by_file(cluster, password))
        assert f"error: the login at {cluster.outside} is refused\n" in told
        assert "Invalid username or password" in told
        told = refused(cluster, 4, *command, *by_file(cluster, stranger))
        assert f"error: TLS to {cluster.outside} fails\n" in told
        assert "certificate verify failed" in told
        told = refused(cluster, 2, *command, *by_file(cluster, nowhere))
        assert "cannot read" in told
        assert "nowhere.pem: No such file or directory" in told
        told = refused(cluster, 2, *command, *by_file(cluster, tmp_path / "nothing"))
        assert "cannot read the client configuration" in told
    told = refused(cluster, 2, *command, *by_file(cluster, foreign))
    assert "sasl.username is a property of librdkafka, but Spark uses the Java client" in told
    assert "no broker answers" in refused(cluster, 6, "topic", "list", "-b", cluster.outside)


def test_a_job_reads_and_writes_through_the_login_and_tells_nobody(cluster: Secured, tmp_path: Path) -> None:
    records = [json.dumps({"truck": f"truck-{number}", "lat": 47.5}) for number in range(40)]
    wrong = ["{oops", '{"truck": "t", "lat": 99}']
    by_inventory = ["-i", str(cluster.inventory)]
    cluster.live.run("produce", "positions", *by_inventory, input="\n".join([*records, *wrong]) + "\n")
    job, events = tmp_path / "safe.yml", tmp_path / "events"
    events.mkdir()
    pages = {"spark.eventLog.enabled": "true", "spark.eventLog.compress": "false", "spark.eventLog.dir": str(events)}
    job.write_text(f"{INGEST}spark: {json.dumps(pages)}\n")  # all that Spark's pages show

    submit = ["job", "submit", "ingest", "--config", str(job), "--once"]
    dry = cluster.live.run(*submit, "--dry-run", "-o", "json", *by_inventory)
    done = cluster.live.run(*submit, *by_inventory)
    assert "batch 0: 42 records" in done.stderr
    assert "2 dead letters" in done.stderr
    audit = cluster.live.run("job", "audit", "safe", check=False)
    assert "42 records read, 40 rows, 2 dead letters, 0 missing, 0 duplicates" in audit.stdout
    letters = cluster.live.run("consume", "positions.dead-letters", *by_inventory, "--from-beginning", "-e")

    folder = cluster.live.home / "jobs" / NAME / "safe"
    assert [path.name for path in folder.rglob("*") if holds(path)] == ["clients.json"]
    assert stat.S_IMODE((folder / "clients.json").stat().st_mode) == 0o600
    assert [path for path in tmp_path.rglob("*") if holds(path)] == []
    assert list(events.iterdir())
    assert not any(HUSH in each.stdout + each.stderr for each in (dry, done, audit, letters))

    driving = tmp_path / "trucks.yml"
    driving.write_text("job: trucks\nname: drive\ntopics: [positions]\ntrucks: 5\n")
    done = cluster.live.run("job", "submit", "trucks", "--config", str(driving), "--once", *by_inventory)
    assert "5 records" in done.stdout


def holds(path: Path) -> bool:
    return path.is_file() and HUSH.encode() in path.read_bytes()
