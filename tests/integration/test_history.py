"""`kcluster history` beside a run that goes on, and after its process was killed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

from tests.children import child

RUN = """
import sys
from kcluster.journal import Journal
with Journal.begin("staging", ["kcluster", "provision", "-i", "staging"]) as running:
    running.note("step", phase="apply", host="h1", what="start kafka", status="changed", seconds=1.5)
    print("noted", flush=True)
    sys.stdin.read()
"""


def kcluster(home: Path, *words: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-m", "kcluster", "history", *words],
        capture_output=True,
        text=True,
        env={**os.environ, "KCLUSTER_HOME": str(home)},
        check=False,
    )


def test_a_run_is_seen_while_it_works_and_what_it_did_is_known_after_a_kill(tmp_path: Path) -> None:
    before = kcluster(tmp_path)
    assert (before.returncode, before.stdout) == (0, "no run is recorded on this machine yet\n")
    pipe, env = subprocess.PIPE, {**os.environ, "KCLUSTER_HOME": str(tmp_path)}
    with child([sys.executable, "-c", RUN], stdin=pipe, stdout=pipe, text=True, env=env) as run:
        assert run.stdout
        assert run.stdout.readline() == "noted\n"
        assert json.loads(kcluster(tmp_path, "-o", "json").stdout)["runs"][0]["outcome"] == "running"
        assert kcluster(tmp_path, "show", "1").stdout.splitlines()[-1] == "running"
        run.kill()
    listed = kcluster(tmp_path)
    assert listed.returncode == 0
    assert listed.stdout.splitlines()[1].endswith("kcluster provision -i staging  interrupted")
    told = kcluster(tmp_path, "show", "1", "-n", "staging").stdout
    assert "h1    start kafka  changed  1.5 s" in told
    assert told.splitlines()[-1] == "interrupted, the process was killed, or its machine went down"
    missing = kcluster(tmp_path, "show", "2")
    assert (missing.returncode, missing.stdout) == (2, "")
    assert missing.stderr == "error: staging has no run 2; the newest is 1\n  try: kcluster history -n staging\n"
