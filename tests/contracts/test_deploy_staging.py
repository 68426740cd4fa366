"""`.ci/deploy-staging` before it comes to a host: nobody else writes its results, and keys of new hosts are added."""

from __future__ import annotations

import fcntl
import os
import subprocess
import sys
from pathlib import Path

KNOWN = "staging1.example.com ssh-ed25519 AAAA"
NEW = "staging2.example.com ssh-ed25519 BBBB"


def deploy(project: Path, folder: Path, known_hosts: str = "") -> subprocess.CompletedProcess[str]:
    """One deployment of an inventory that is not there, so that its first step is its last."""
    environment = {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ['PATH']}",
        "HOME": str(folder),
        "ARTIFACTS": str(folder / "artifacts"),
        "KCLUSTER_KNOWN_HOSTS": known_hosts,
    }
    command = [".ci/deploy-staging", str(folder / "nowhere")]
    return subprocess.run(command, cwd=project, env=environment, capture_output=True, text=True, check=False)


def test_a_second_run_in_the_same_folder_touches_nothing(project: Path, tmp_path: Path) -> None:
    results = {"provision.json": "half a result", "steps.tsv": "one step"}
    (tmp_path / "artifacts").mkdir()
    for name, text in results.items():
        (tmp_path / "artifacts" / name).write_text(text)
    with (tmp_path / "artifacts.lock").open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        lock.write("process 17 of ci, since 10:00:00\n")
        lock.flush()
        second = deploy(project, tmp_path)
    assert second.returncode == 7
    assert second.stderr == (
        f"error: another deployment writes to {tmp_path}/artifacts/: process 17 of ci, since 10:00:00\n"
        "  try: wait until it has ended, or name another folder with ARTIFACTS\n"
    )
    assert {path.name: path.read_text() for path in (tmp_path / "artifacts").iterdir()} == results

    assert deploy(project, tmp_path).returncode == 3
    assert not (tmp_path / "artifacts/provision.json").exists()
    assert (tmp_path / "artifacts/validate.json").exists()


def test_a_host_that_is_new_becomes_known_beside_those_that_are(project: Path, tmp_path: Path) -> None:
    known = tmp_path / ".ssh/known_hosts"
    deploy(project, tmp_path, KNOWN)
    assert known.read_text() == f"{KNOWN}\n"
    deploy(project, tmp_path, f"{KNOWN}\n\n{NEW}\n")
    assert known.read_text() == f"{KNOWN}\n{NEW}\n"
    deploy(project, tmp_path, f"{KNOWN}\n{NEW}")
    assert known.read_text() == f"{KNOWN}\n{NEW}\n"

    known.write_text(KNOWN)
    deploy(project, tmp_path, NEW)
    assert known.read_text() == f"{KNOWN}\n{NEW}\n"
