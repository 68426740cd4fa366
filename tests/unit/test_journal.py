"""The journal of a run: what is in it, what is not, and what survives."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import threading
from pathlib import Path

import pytest

from kcluster import journal
from kcluster.errors import ApplyError, RefusedError
from kcluster.journal import Journal, Run

WORDS = ["kcluster", "provision", "-i", "staging", "--yes"]


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KCLUSTER_HOME", str(tmp_path))
    return tmp_path


def only_run() -> Run:
    (run,) = journal.runs("c")
    return run


def text(number: int = 1) -> str:
    return (journal.paths.home() / f"clusters/c/journal/{number}.jsonl").read_text()


def test_a_run_is_who_when_and_what_then_its_steps_then_how_it_ended() -> None:
    with Journal.begin("c", WORDS) as running:
        running.note("step", phase="apply", host="h1", what="write server.properties", status="changed", seconds=0.4)
    run = only_run()
    assert (run.number, run.outcome, run.exit_code, run.message, run.lost) == (1, "done", 0, "", 0)
    assert (run.owner.pid, run.owner.machine, run.owner.command) == (os.getpid(), os.uname().nodename, " ".join(WORDS))
    (step,) = run.notes
    assert (step["event"], step["host"], step["status"], step["seconds"]) == ("step", "h1", "changed", 0.4)
    assert run.seconds is not None
    assert [json.loads(line)["event"] for line in text().splitlines()] == ["begin", "step", "end"]


def test_each_note_is_in_the_file_at_once_and_the_run_goes_on() -> None:
    with Journal.begin("c", WORDS) as running:
        running.note("step", what="one")
        assert json.loads(text().splitlines()[-1])["what"] == "one"
        assert only_run().outcome == "running"
    assert only_run().outcome == "done"


def test_an_error_an_interrupt_a_bug_and_a_no_are_told_apart() -> None:
    with pytest.raises(ApplyError), Journal.begin("c", WORDS):
        raise ApplyError("h2 has no Java")
    with pytest.raises(KeyboardInterrupt), Journal.begin("c", WORDS):
        raise KeyboardInterrupt
    with pytest.raises(ZeroDivisionError), Journal.begin("c", WORDS):
        1 / 0  # noqa: B018
    with Journal.begin("c", WORDS) as running:
        running.failed("smoke: 2 of 9 checks failed")
    assert [(run.outcome, run.exit_code, run.message) for run in journal.runs("c")] == [
        ("failed", 5, "h2 has no Java"),
        ("interrupted", 130, ""),
        ("failed", 1, "ZeroDivisionError: division by zero"),
        ("failed", 4, "smoke: 2 of 9 checks failed"),
    ]


def test_a_killed_run_is_interrupted_and_its_half_written_line_does_no_harm(home: Path) -> None:
    code = (
        "import os, signal; from kcluster.journal import Journal\n"
        "with Journal.begin('c', ['kcluster', 'up']) as running:\n"
        "    running.note('step', what='whole')\n"
        '    os.write(running._descriptor, b\'{"event": "st\')\n'
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    killed = subprocess.run([sys.executable, "-c", code], env={**os.environ, "KCLUSTER_HOME": str(home)}, check=False)
    assert killed.returncode == -signal.SIGKILL
    run = only_run()
    assert (run.outcome, run.exit_code, run.seconds) == ("interrupted", None, None)
    assert [note["what"] for note in run.notes] == ["whole"]


def test_a_file_without_a_whole_first_line_is_a_run_of_nobody(home: Path) -> None:
    folder = home / "clusters/c/journal"
    folder.mkdir(parents=True)
    (folder / "7.jsonl").write_text("")
    assert (only_run().number, only_run().outcome, only_run().owner.user) == (7, "interrupted", "unknown")


def test_runs_that_begin_together_never_share_a_number() -> None:
    ready, begun = threading.Barrier(8), []

    def begin() -> None:
        ready.wait()
        for _ in range(5):
            with Journal.begin("c", WORDS) as running:
                begun.append(running.number)

    workers = [threading.Thread(target=begin) for _ in range(8)]
    for worker in workers:
        worker.start()
    for worker in workers:
        worker.join()
    assert sorted(begun) == list(range(1, 41))


def test_notes_of_many_threads_are_whole_lines() -> None:
    with Journal.begin("c", WORDS) as running:
        workers = [
            threading.Thread(target=lambda: [running.note("step", what="x" * 5000) for _ in range(20)])
            for _ in range(4)
        ]
        for worker in workers:
            worker.start()
        for worker in workers:
            worker.join()
    assert [len(note["what"]) for note in only_run().notes] == [5000] * 80


def test_no_secret_is_written_wherever_it_is() -> None:
    words = ["kcluster", "x", "-e", "ansible_become_password=hush", "--become-password", "hush", "--password=hush"]
    with Journal.begin("c", [*words, "--vault-password-file", "known"]) as running:
        running.note("step", what="set", **{"ssl.key.password": "hush", "plain": "seen"})
        running.note("step", config={"ssl.keystore.password": "hush", "inner": [{"sasl.jaas.config": "x hush"}]})
        running.note(
            "step",
            diff="-ssl.truststore.password=hush\n+ssl.truststore.password=hush hush\n num.io=3\n+  a_password: hush",
        )
        running.note("step", what='run with KAFKA_OPTS=-Djavax.net.ssl.keyStorePassword=hush password="hush" -x')
    assert "hush" not in text()
    assert "known" in text()
    assert "seen" in text()
    assert " num.io=3" in text()


def test_the_journal_is_for_its_owner_only() -> None:
    with Journal.begin("c", WORDS) as running:
        assert running.file.stat().st_mode & 0o777 == 0o600


def test_a_text_that_is_no_unicode_can_be_noted_and_read() -> None:
    with Journal.begin("c", WORDS) as running:
        running.note("step", what=os.fsdecode(b"/data/\xff"))
    assert only_run().notes[0]["what"] == "/data/\udcff"


ON_A_SMALL_DISK = 'mount -t tmpfs -o size=2m none "$0" && exec "$@"'


def on_a_small_disk(folder: Path, code: str) -> subprocess.CompletedProcess[str]:
    """Run Python with its home on a disk of 2 MB that only this process sees."""
    return subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", ON_A_SMALL_DISK, str(folder), sys.executable, "-c", code],
        capture_output=True,
        text=True,
        env={**os.environ, "KCLUSTER_HOME": str(folder)},
        check=False,
    )


FILL = """
import os
from kcluster import journal
from kcluster.errors import ApplyError
def fill():
    with open(os.environ["KCLUSTER_HOME"] + "/filler", "ab", buffering=0) as file:
        try:
            while file.write(b"x" * 4096): pass
        except OSError: pass
"""


def test_a_full_disk_is_told_before_the_run_begins(tmp_path: Path) -> None:
    code = (
        FILL + "fill()\ntry: journal.Journal.begin('c', ['x'])\nexcept ApplyError as no: print(no, '|', no.resolution)"
    )
    done = on_a_small_disk(tmp_path, code)
    assert "cannot be written: No space left on device; nothing was changed | make room" in done.stdout, done.stderr


def test_a_disk_that_fills_up_costs_notes_and_not_the_run(tmp_path: Path) -> None:
    code = FILL + (
        "with journal.Journal.begin('c', ['x']) as running:\n"
        "    running.note('step', what='before')\n"
        "    fill()\n"
        "    for _ in range(3): running.note('step', what='y' * 9000)\n"
        "    os.unlink(os.environ['KCLUSTER_HOME'] + '/filler')\n"
        "    running.note('step', what='after')\n"
        "run = journal.read('c', 1)\n"
        "print(run.outcome, run.lost, [note['what'] for note in run.notes])\n"
    )
    done = on_a_small_disk(tmp_path, code)
    assert done.stdout.strip() == "done 3 ['before', 'after']", done.stderr


def test_a_folder_that_may_not_be_made_is_told(home: Path) -> None:
    (home / "clusters").write_text("a file")
    with pytest.raises(ApplyError, match=r"nothing was changed") as refused:
        Journal.begin("c", WORDS)
    assert "KCLUSTER_HOME" in refused.value.resolution


def test_the_last_runs_come_in_order_and_clusters_without_any_are_not_named() -> None:
    assert journal.clusters() == []
    for _ in range(11):
        with Journal.begin("c", WORDS):
            pass
    assert [run.number for run in journal.runs("c", 3)] == [9, 10, 11]
    assert journal.runs("c", 0) == []
    assert journal.clusters() == ["c"]
    with pytest.raises(FileNotFoundError):
        journal.read("c", 12)
    with pytest.raises(RefusedError), Journal.begin("d", WORDS):
        raise RefusedError("no")
    assert journal.clusters() == ["c", "d"]
