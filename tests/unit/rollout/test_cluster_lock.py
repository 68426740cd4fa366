"""The lock on this machine, and the program that holds it on a host, as a process of this machine."""

from __future__ import annotations

import json
import os
import signal
import subprocess
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from datetime import datetime, timedelta
from pathlib import Path

import pytest

from kcluster.errors import ApplyError, LockedError
from kcluster.journal import Owner
from kcluster.local import topology
from kcluster.local.cluster_record import UpOrigin
from kcluster.model.cluster import Cluster
from kcluster.rollout import cluster_lock
from kcluster.rollout.cluster_lock import locked, locked_error
from tests.children import child

WORDS = ["kcluster", "provision", "-i", "staging"]


@pytest.fixture(autouse=True)
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KCLUSTER_HOME", str(tmp_path / "home"))
    monkeypatch.setattr(cluster_lock, "FOLDER", str(tmp_path))
    return tmp_path


def cluster(name: str) -> Cluster:
    return topology.cluster_of(name, UpOrigin(brokers=1, keepers=1), "")


def test_a_second_run_gets_the_owner_of_the_lock_and_other_clusters_are_not_locked() -> None:
    with locked(cluster("a"), None, WORDS), locked(cluster("b"), None, WORDS):
        with pytest.raises(LockedError) as refused, locked(cluster("a"), None, ["kcluster", "restart"]):
            raise AssertionError("two runs hold the same cluster")
        me = Owner.here(WORDS)
        assert refused.value.message.startswith(
            f"another kcluster run works on a: {me.user}@{me.machine} (pid {os.getpid()}) since "
        )
        assert refused.value.message.endswith(": kcluster provision -i staging")
        assert refused.value.resolution == "wait for it to end; the lock of a run that died expires within 30 s"
    with locked(cluster("a"), None, WORDS):
        pass


def test_a_run_that_fails_or_is_killed_releases_the_lock(places: Path) -> None:
    with pytest.raises(ApplyError), locked(cluster("a"), None, WORDS):
        raise ApplyError("no")
    code = (
        "import os, signal, sys; from kcluster.rollout.cluster_lock import locked\n"
        "from kcluster.local import topology; from kcluster.local.cluster_record import UpOrigin as Origin\n"
        "with locked(topology.cluster_of('a', Origin(brokers=1, keepers=1), ''), None, ['x']):\n"
        "    print('held', flush=True); sys.stdin.read()\n"
    )
    with child([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True) as other:
        assert other.stdout
        assert other.stdout.readline() == "held\n"
        with pytest.raises(LockedError, match=rf"\(pid {other.pid}\)"), locked(cluster("a"), None, WORDS):
            raise AssertionError("two runs hold the same cluster")
        other.send_signal(signal.SIGKILL)
    with locked(cluster("a"), None, WORDS):
        pass


def test_a_lock_that_cannot_be_written_is_an_error(places: Path) -> None:
    (places / "home").write_text("a file")
    with pytest.raises(ApplyError, match="nothing was changed"), locked(cluster("a"), None, WORDS):
        raise AssertionError("there is no lock")


def test_no_secret_of_the_command_is_in_the_lock(places: Path) -> None:
    with locked(cluster("a"), None, ["kcluster", "provision", "-e", "ansible_password=hush"]):
        text = (places / "home/clusters/a/lock").read_text()
    assert "ansible_password=********" in text
    assert "hush" not in text


def test_a_lock_of_another_day_is_shown_with_its_date() -> None:
    day_before = (datetime.now().astimezone() - timedelta(days=1)).replace(microsecond=0)
    facts = {"user": "alice", "machine": "laptop", "pid": 7, "words": ["kcluster", "x"]}
    told = locked_error("c", Owner.of({**facts, "since": day_before.isoformat()}), "h1")
    assert f" since {day_before:%Y-%m-%d %H:%M:%S}: kcluster x" in told.message
    assert "unknown@unknown (pid 0) since unknown" in locked_error("c", Owner.of({}), "h1").message


@contextmanager
def holder(name: str, silence: float = 30.0) -> Iterator[subprocess.Popen[str]]:
    """The program as a host runs it."""
    with child(
        [sys.executable, "-IS", "-c", "exec(input())"], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as process:
        assert process.stdin
        process.stdin.write(cluster_lock.holder_script(cluster_lock.lock_file(name), Owner.here(WORDS), silence))
        process.stdin.flush()
        yield process


def answer(process: subprocess.Popen[str]) -> dict[str, object]:
    assert process.stdout
    return dict(json.loads(process.stdout.readline()))


def test_a_host_is_locked_by_one_run_until_its_input_ends(places: Path) -> None:
    with holder("a") as first, holder("b") as other:
        assert answer(first) == answer(other) == {"held": True}
        assert (places / "kcluster-a.lock").stat().st_mode & 0o777 == 0o600
        with holder("a") as second:
            owner = answer(second)["owner"]
            assert isinstance(owner, dict)
            assert (owner["pid"], owner["words"]) == (os.getpid(), WORDS)
        first.communicate()
        assert first.returncode == 0
        with holder("a") as third:
            assert answer(third) == {"held": True}
    assert (places / "kcluster-a.lock").read_text() == ""


def test_a_host_releases_the_lock_without_heartbeats_and_keeps_it_with_them() -> None:
    with holder("quiet", 3.0) as quiet, holder("heard", 3.0) as heard:
        assert answer(quiet) == {"held": True}
        began = time.monotonic()
        assert answer(heard) == {"held": True}
        assert heard.stdin
        while quiet.poll() is None:
            assert time.monotonic() < began + 30, "silence did not end the program"
            heard.stdin.write("\n")
            heard.stdin.flush()
            with pytest.raises(subprocess.TimeoutExpired):
                heard.wait(0.1)
        assert quiet.returncode == -signal.SIGALRM
        assert time.monotonic() - began > 2.0


def test_a_killed_lock_program_releases_the_lock_at_once() -> None:
    with holder("a") as first:
        assert answer(first) == {"held": True}
        first.kill()
        first.wait()
        with holder("a") as second:
            assert answer(second) == {"held": True}


def test_a_symbolic_link_in_place_of_the_lock_is_not_followed(places: Path) -> None:
    victim = places / "victim"
    victim.write_text("precious")
    (places / "kcluster-a.lock").symlink_to(victim)
    with holder("a") as refused:
        assert "symbolic links" in str(answer(refused)["trouble"])
    assert victim.read_text() == "precious"
