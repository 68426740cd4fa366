"""Completion as a person meets it: real bash, zsh and fish, and the tab key."""

from __future__ import annotations

import os
import pty
import select
import subprocess
import sys
import time
from contextlib import nullcontext, suppress
from pathlib import Path

import pytest

from tests.children import child
from tests.shared import shared

READY = "the-shell-is-ready"
SHELLS = {
    "bash": (["bash", "--norc", "-i"], 'eval "$(kcluster completion bash)"'),
    "zsh": (["zsh", "-f", "-i"], 'autoload -Uz compinit; compinit -u; eval "$(kcluster completion zsh)"'),
}


def environment(cluster):
    programs = f"{Path(sys.executable).parent}:{os.environ['PATH']}"
    return {**cluster.env, "PATH": programs, "TERM": "dumb", "PS1": "> ", "HOME": str(cluster.home)}


def until(terminal, word, within):
    """What the shell writes until the word is there."""
    seen, deadline = "", time.monotonic() + within
    while word not in seen:
        assert time.monotonic() < deadline, f"{word!r} is not in {seen!r}"
        if select.select([terminal], [], [], 0.1)[0]:
            seen += os.read(terminal, 65536).decode(errors="replace")
    return seen


def tab(shell, line, expected, cluster):
    """Type the line and press tab in a new interactive shell; the expected words must appear."""
    command, setup = SHELLS[shell]
    ours, theirs = pty.openpty()
    with child(
        command, stdin=theirs, stdout=theirs, stderr=theirs, env=environment(cluster), start_new_session=True
    ) as process:
        try:
            os.write(ours, f"{setup}; echo {READY[:5]}''{READY[5:]}\n".encode())
            until(ours, READY, 20)
            os.write(ours, line.encode())
            for _ in range(9):  # where an answer takes longer than a second, tab gives none, and people press it again
                os.write(ours, b"\t")
                with suppress(AssertionError):
                    return until(ours, expected, 3)
            return until(ours, expected, 3)
        finally:
            process.kill()
            os.close(ours)
            os.close(theirs)


@pytest.fixture
def cluster(live):
    shared("tabulated", lambda: nullcontext(live.run("topic", "create", "tabulated", "-p", "1", "-n", live.name)))
    return live


@pytest.mark.parametrize("shell", SHELLS)
def test_commands_are_completed(shell, cluster):
    tab(shell, "kcluster topic desc", "describe ", cluster)


@pytest.mark.parametrize("shell", SHELLS)
def test_topics_of_a_local_cluster_are_completed(shell, cluster):
    tab(shell, f"kcluster topic describe -n {cluster.name} tabu", "tabulated", cluster)


@pytest.mark.parametrize("shell", SHELLS)
def test_topics_are_completed_behind_an_address_with_a_colon(shell, cluster):
    address = cluster.bootstrap.split(",")[0]
    tab(shell, f"kcluster topic describe --bootstrap {address} tabu", "tabulated", cluster)


@pytest.mark.parametrize("shell", SHELLS)
def test_local_clusters_are_completed(shell, cluster):
    tab(shell, f"kcluster topic list -n {cluster.name[:2]}", f"{cluster.name} ", cluster)


def fish(cluster, line):
    script = f"kcluster completion fish | source; complete -C '{line}'"
    done = subprocess.run(["fish", "-c", script], capture_output=True, text=True, env=environment(cluster), timeout=60)
    assert done.stderr == ""
    return [word.partition("\t")[0] for word in done.stdout.splitlines()]


def in_time(cluster, line):
    """What comes of it; where an answer takes longer than a second there is none, and people press tab again."""
    return next((words for words in (fish(cluster, line) for _ in range(10)) if words), [])


def test_fish_completes_commands_clusters_topics_and_brokers(cluster):
    assert "describe" in fish(cluster, "kcluster topic d")
    assert in_time(cluster, f"kcluster topic describe -n {cluster.name} tabu") == ["tabulated"]
    assert in_time(cluster, f"kcluster broker config -n {cluster.name} ") == ["1", "2", "3"]
    assert in_time(cluster, "kcluster topic list -n ") == [cluster.name]


def test_a_dead_cluster_is_no_words_and_no_noise(cluster):
    begun = time.monotonic()
    env = {
        **environment(cluster),
        "COMP_WORDS": "kcluster topic describe --bootstrap 127.0.0.1:1 ",
        "COMP_CWORD": "5",
        "_KCLUSTER_COMPLETE": "complete_bash",
    }
    done = subprocess.run(["kcluster"], capture_output=True, text=True, env=env, timeout=60)
    assert (done.stdout.strip(), done.stderr) == ("", "")
    assert time.monotonic() - begun < 10
