"""Workers have loopback networks of their own; it takes root, as hosts do."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

TWO_ON_ONE_PORT = """
import os, socket, subprocess, sys
from tests.loopback import on_loopback, own_loopback

def place():
    return os.readlink("/proc/thread-self/ns/net")

connect = [sys.executable, "-c", "import socket, sys; socket.create_connection(('127.0.0.1', int(sys.argv[1])))"]
outside = place()
with socket.create_server(("127.0.0.1", 0)) as one:
    port = one.getsockname()[1]
    with own_loopback():
        inside = place()
        refused = subprocess.run([*connect, str(port)], stderr=subprocess.DEVNULL).returncode
        with on_loopback(socket.create_server(("127.0.0.1", port))), own_loopback():
            assert place() == inside
            served = subprocess.run([*connect, str(port)]).returncode
        assert place() == inside
    assert place() == outside
print(inside != outside, refused, served)
"""


def test_two_workers_may_have_the_same_port_and_do_not_meet(project: Path) -> None:
    surroundings = {**os.environ, "PYTEST_XDIST_WORKER": "gw0", "PYTHONPATH": f"{project}:{project / 'cli'}"}
    done = subprocess.run(
        [sys.executable, "-c", TWO_ON_ONE_PORT], capture_output=True, text=True, env=surroundings, cwd=project
    )
    assert (done.stdout, done.stderr) == ("True 1 0\n", "")


def test_a_process_that_is_no_worker_stays_where_it_is(project: Path) -> None:
    surroundings = {key: value for key, value in os.environ.items() if key != "PYTEST_XDIST_WORKER"}
    same = "import os\nfrom tests.loopback import own_loopback\nnow = os.readlink('/proc/thread-self/ns/net')\n"
    same += "with own_loopback():\n    assert os.readlink('/proc/thread-self/ns/net') == now\n"
    done = subprocess.run([sys.executable, "-c", same], capture_output=True, text=True, env=surroundings, cwd=project)
    assert (done.returncode, done.stderr) == (0, "")
