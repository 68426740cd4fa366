"""How recorded runs are told, and which cluster is meant."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kcluster.app import main
from kcluster.complete import recorded_clusters
from kcluster.errors import ExitCode, RefusedError
from kcluster.journal import Journal
from kcluster.operations.history import RunDetails, took
from kcluster.results import Grid

WORDS = ["kcluster", "provision", "-i", "staging", "--yes"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KCLUSTER_HOME", str(tmp_path))
    return tmp_path


def record(name: str, *, fails: bool = False) -> None:
    try:
        with Journal.begin(name, WORDS) as running:
            running.note("step", phase="apply", host="h2", what="start kafka", status="ok", seconds=3.25)
            running.note("step", phase="apply", host="h1", what="write kafka.env", status="changed", diff="-a\n+b")
            running.note("step", phase="apply", host="h2", what="enable kafka", status="ok")
            running.note("step", phase="smoke", what="9 checks hold", status="ok")
            if fails:
                raise RefusedError("h1 did not come back")
    except RefusedError:
        assert fails


def cli(capsys: pytest.CaptureFixture[str], *words: str) -> tuple[int, str, str]:
    capsys.readouterr()
    code = main(["history", *words])
    said = capsys.readouterr()
    return code, said.out, said.err


def test_runs_are_listed_oldest_first_and_only_the_newest_are_shown(capsys: pytest.CaptureFixture[str]) -> None:
    for fails in (False, True, False):
        record("staging", fails=fails)
    code, out, _ = cli(capsys, "-n", "staging")
    rows = out.splitlines()
    assert code == ExitCode.DONE
    assert rows[0].split() == ["RUN", "WHEN", "WHO", "COMMAND", "OUTCOME", "TOOK"]
    assert [row.split()[0] for row in rows[1:]] == ["1", "2", "3"]
    assert "kcluster provision -i staging --yes  failed" in rows[2]
    assert cli(capsys, "--last", "1")[1].splitlines()[-1] == "2 older runs not shown: add --last 3"
    data = json.loads(cli(capsys, "--last", "2", "-o", "json")[1])
    assert [(run["number"], run["outcome"], run["exit_code"]) for run in data["runs"]] == [
        (2, "failed", 4),
        (3, "done", 0),
    ]
    assert data["older"] == 1
    assert "notes" not in data["runs"][0]


def test_a_run_is_told_by_phase_and_host(capsys: pytest.CaptureFixture[str]) -> None:
    record("staging", fails=True)
    code, out, _ = cli(capsys, "show", "1")
    rows = [" ".join(row.split()) for row in out.splitlines()]
    assert code == ExitCode.DONE  # the story of a failure is no failure
    assert rows[0] == "run 1 of staging: kcluster provision -i staging --yes"
    assert rows[3:] == [
        "apply",
        "HOST STEP STATUS TOOK DETAIL",
        "h2 start kafka ok 3.2 s",
        "h2 enable kafka ok",
        "h1 write kafka.env changed diff=-a ...",
        "",
        "smoke",
        "STEP STATUS",
        "9 checks hold ok",
        "",
        rows[-1],
    ]
    assert rows[-1].startswith("failed: h1 did not come back, exit code 4, ")
    told = json.loads(cli(capsys, "-n", "staging", "show", "1", "-o", "json")[1])
    assert told["notes"][1]["diff"] == "-a\n+b"
    assert told["words"] == WORDS


def test_without_a_name_the_only_cluster_is_meant_and_several_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    record("staging")
    assert "provision" in cli(capsys)[1]
    record("prod")
    record("prod", fails=True)
    code, out, _ = cli(capsys)
    assert code == ExitCode.DONE
    assert [row.split()[:2] for row in out.splitlines()[1:3]] == [["prod", "2"], ["staging", "1"]]
    assert "failed" in out.splitlines()[1]
    code, _, err = cli(capsys, "show", "1")
    assert code == ExitCode.USAGE
    assert "runs of several clusters are recorded; there is prod, staging" in err


def test_what_is_not_there_is_refused_with_what_is(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(capsys, "show", "1")[0] == ExitCode.USAGE
    record("staging")
    code, _, err = cli(capsys, "-n", "stagin")
    assert (code, err.splitlines()) == (
        ExitCode.USAGE,
        ["error: no run of stagin is recorded on this machine; there is staging", "  try: -n staging"],
    )
    code, _, err = cli(capsys, "show", "7")
    assert (code, err.splitlines()[0]) == (ExitCode.USAGE, "error: staging has no run 7; the newest is 1")
    assert cli(capsys, "-n", "../staging")[0] == ExitCode.USAGE


def test_an_empty_history_is_shown_as_empty(capsys: pytest.CaptureFixture[str]) -> None:
    assert cli(capsys)[:2] == (ExitCode.DONE, "no run is recorded on this machine yet\n")
    assert cli(capsys, "-n", "x")[:2] == (ExitCode.DONE, "no run of x is recorded on this machine yet\n")
    assert json.loads(cli(capsys, "-o", "json")[1]) == {"cluster": "", "older": 0, "runs": []}


def test_the_history_of_an_inventory_without_runs_is_empty_beside_those_of_others(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    record("staging")
    hosts = tmp_path / "new.yml"
    hosts.write_text("zookeeper: {hosts: {a: {zookeeper_id: 1}}}\nkafka_broker: {hosts: {b: {kafka_broker_id: 1}}}\n")
    assert cli(capsys, "-i", str(hosts))[:2] == (ExitCode.DONE, "no run of new is recorded on this machine yet\n")


def test_an_inventory_gives_the_name_even_when_it_is_refused_otherwise(
    capsys: pytest.CaptureFixture[str], tmp_path: Path
) -> None:
    inventory = tmp_path / "inventory.yml"
    inventory.write_text(
        "all: {vars: {kcluster_name: staging}, children: {kafka_broker: {hosts: {h1: {kafka_broker_id: 7000}}},"
        " zookeeper: {hosts: {h1: {zookeeper_id: 0}}}}}\n"
    )
    record("staging")
    record("other")
    assert main(["validate", "-i", str(inventory)]) == ExitCode.INVENTORY
    assert cli(capsys, "show", "1", "-i", str(inventory))[1].startswith("run 1 of staging: ")
    assert cli(capsys, "-i", str(inventory), "show", "1")[1].startswith("run 1 of staging: ")
    assert cli(capsys, "-i", str(tmp_path / "none"))[0] == ExitCode.INVENTORY


def test_a_run_that_goes_on_is_running(home: Path) -> None:
    from kcluster.operations import history

    with Journal.begin("staging", WORDS) as running:
        running.note("step", what="wait", lines="one\ntwo", phase="start")
        told = history.show(None, running.number)
    assert isinstance(told, RunDetails)
    blocks = list(told.view())
    assert getattr(blocks[-1], "text", "") == "running"
    (grid,) = (block for block in blocks if isinstance(block, Grid))
    assert grid.rows[0][-1] == "lines=one ..."


def test_a_phase_has_its_title_and_its_time(home: Path, capsys: pytest.CaptureFixture[str]) -> None:
    lines = [
        {"event": "begin", "at": "2026-01-01T12:00:00+00:00", "since": "2026-01-01T12:00:00+00:00", "words": ["x"]},
        {"event": "phase", "at": "2026-01-01T12:00:01+00:00", "phase": "check", "what": "check 3 hosts"},
        {"event": "phase", "at": "2026-01-01T12:00:03.500+00:00", "phase": "plan", "what": "plan"},
        {"event": "step", "at": "2026-01-01T12:00:04+00:00", "phase": "plan", "host": "h1", "what": "look"},
        {"event": "phase", "at": "2026-01-01T12:01:04+00:00", "phase": "check", "what": "check again"},
        {"event": "end", "at": "2026-01-01T12:01:06+00:00", "outcome": "done", "exit_code": 0, "seconds": 66.0},
    ]
    folder = home / "clusters/staging/journal"
    folder.mkdir(parents=True)
    for number, count in ((1, 6), (2, 4)):  # the second was killed
        (folder / f"{number}.jsonl").write_text("".join(json.dumps(line) + "\n" for line in lines[:count]))
    told = cli(capsys, "show", "1")[1].splitlines()
    assert told[2:] == ["", "check: check 3 hosts (4.5 s)", "", "plan (1 min 0 s)", *told[6:]]
    assert [row.split() for row in told[6:]] == [["HOST", "STEP"], ["h1", "look"], [], ["done,", "1", "min", "6", "s"]]
    assert "plan (0.5 s)" in cli(capsys, "show", "2")[1]


@pytest.mark.parametrize(
    ("seconds", "text"),
    [(None, ""), (0.04, "0.0 s"), (59.9, "59.9 s"), (60, "1 min 0 s"), (3599, "59 min 59 s"), (7380, "2 h 3 min")],
)
def test_a_duration_is_as_fine_as_a_reader_wants_it(seconds: float | None, text: str) -> None:
    assert took(seconds) == text


def test_the_shell_completes_clusters_that_have_runs() -> None:
    record("staging")
    record("prod")
    assert recorded_clusters("") == ["prod", "staging"]
    assert recorded_clusters("s") == ["staging"]
