"""`kcluster logs` with real processes."""

from __future__ import annotations

import signal
import subprocess
from pathlib import Path
from threading import Timer

from tests.children import child


def test_the_last_lines_of_one_node(live):
    done = live.run("logs", "broker-1", "--lines", "3", "-n", live.name)
    log = live.home / f"local/{live.name}/nodes/broker-1/logs/server.log"
    assert len(done.stdout.splitlines()) == 3
    assert done.stdout.splitlines()[0] in log.read_text()


def test_all_nodes_carry_their_names(live):
    done = live.run("logs", "--lines", "20000", "-n", live.name)
    assert {line.partition(" ")[0] for line in done.stdout.splitlines()} >= {"broker-1", "broker-2", "broker-3"}


def test_an_unknown_node_gets_the_nearest_names(live):
    done = live.run("logs", "broker-9", "-n", live.name, check=False)
    assert done.returncode == 2
    assert "has no node or host broker-9\n  try: did you mean broker-" in done.stderr


def test_following_shows_a_new_line_at_once_and_ends_with_ctrl_c(live):
    log = Path(live.home, f"local/{live.name}/nodes/broker-1/logs/log-cleaner.log").with_name("server.log")
    command = live.command("logs", "broker-1", "-f", "--lines", "1", "-n", live.name)
    with child(command, env=live.env, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True) as following:
        assert following.stdout
        patience = Timer(30, following.kill)
        patience.start()
        following.stdout.readline()
        with log.open("a") as file:
            file.write("a line written by the test\n")
        while "written by the test" not in (line := following.stdout.readline()):
            assert line, "it ended before the line came"
        following.send_signal(signal.SIGINT)
        _, said = following.communicate(timeout=10)
        patience.cancel()
    assert following.returncode == 130
    assert "Traceback" not in said


def test_a_reader_that_goes_away_is_no_error(live):
    words = " ".join(live.command("logs", "--lines", "5000", "-n", live.name))
    done = subprocess.run(
        ["bash", "-c", f"set -o pipefail; {words} | head -1"], env=live.env, capture_output=True, text=True
    )
    assert done.returncode == 0
    assert done.stderr == ""
