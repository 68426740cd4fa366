"""Runs a playbook and reports its events while it runs."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from kcluster.clients.ansible.events import Event, PlaybookOutcome, TaskStatus, failure
from kcluster.clients.ansible.run_environment import environment
from kcluster.errors import ApplyError

if TYPE_CHECKING:
    from subprocess import Popen

LEAST_FORKS = 10
_END_SECONDS = 20.0
"""Seconds Ansible has to end after Ctrl-C before it is killed."""
_LAST_LINES = 12


def run_playbook(
    playbook: str,
    inventory: Path,
    *,
    on_event: Callable[[Event], None],
    extra: Mapping[str, Any] = {},
    limit: Sequence[str] = (),
    check: bool = False,
    become_password: str = "",
    forks: int = 0,
    given: Mapping[str, str] = {},
) -> PlaybookOutcome:
    """Run a playbook; blocks until it ends. Raises the error of its hosts, and KeyboardInterrupt once Ansible ended.

    `given` is added to its environment.
    """
    import tempfile
    import time

    began = time.monotonic()
    ended: list[Event] = []
    with tempfile.NamedTemporaryFile(prefix="kcluster-") as variables, tempfile.TemporaryFile() as output:
        variables.write(json.dumps(dict(extra)).encode())  # in a file of ours only, as arguments can be read by others
        variables.flush()
        arguments = ["-i", str(inventory), "--diff", "--extra-vars", f"@{variables.name}"]
        arguments += _options(limit=limit, check=check, asked=bool(become_password), forks=forks)
        surroundings = {**environment(inventory), **given}
        with _running([*arguments, playbook], surroundings, become_password, output) as (process, lines):
            for event in _events(process, lines):
                on_event(event)
                if event.status is not TaskStatus.STARTED:
                    ended.append(event)
        if problem := failure(ended) or _crash(process.returncode, output):
            raise problem
    return PlaybookOutcome(tuple(ended), time.monotonic() - began)


def _options(*, limit: Sequence[str], check: bool, asked: bool, forks: int) -> list[str]:
    options = ["--forks", str(max(LEAST_FORKS, forks))]
    options += ["--check"] if check else []
    options += ["--limit", ",".join(limit)] if limit else []
    return [*options, *(["--become-password-file", "-"] if asked else [])]


@contextmanager
def _running(
    arguments: Sequence[str], surroundings: Mapping[str, str], secret: str, output: IO[bytes]
) -> Iterator[tuple[Popen[bytes], int]]:
    """ansible-playbook, and where its events come from; it has ended when the block has, whatever happens in it."""
    import subprocess

    lines, events = os.pipe()
    with os.fdopen(lines, "rb", buffering=0):
        try:
            process = subprocess.Popen(
                # -P: else the modules beside the launcher could be taken for others
                [
                    sys.executable,
                    "-P",
                    str(Path(__file__).with_name("playbook_process.py")),
                    str(os.getpid()),
                    *arguments,
                ],
                env={**surroundings, "KCLUSTER_EVENTS_FD": str(events)},
                stdin=subprocess.PIPE,
                stdout=output,
                stderr=output,
                pass_fds=(events,),
                # Ctrl-C on the terminal reaches us only, and Ansible through us: once.
                process_group=0,
            )
        finally:
            os.close(events)
        try:
            _hand_over(process, secret)
            yield process, lines
            process.wait()
        finally:
            _end(process)


def _hand_over(process: Popen[bytes], secret: str) -> None:
    """Give the password through standard input: neither arguments nor environment, which others can read."""
    assert process.stdin
    try:
        process.stdin.write(secret.encode())
        process.stdin.close()
    except BrokenPipeError:  # it ended at once; its output says why
        return


def _end(process: Popen[bytes]) -> None:
    """Let a process that still runs end as after Ctrl-C, which reaches its workers too; kill it when it does not."""
    import signal
    import subprocess

    if process.poll() is not None:
        return
    try:
        process.send_signal(signal.SIGINT)
        process.wait(_END_SECONDS)
    except (subprocess.TimeoutExpired, KeyboardInterrupt):
        process.kill()
        process.wait()


def _events(process: Popen[bytes], lines: int) -> Iterator[Event]:
    """The events until the process ends: its children may hold the pipe open for longer."""
    import select

    os.set_blocking(lines, False)
    ending = os.pidfd_open(process.pid)
    rest, over = b"", False
    try:
        while not over:
            over = ending in select.select([lines, ending], [], [])[0]
            *whole, rest = (rest + _pending(lines)).split(b"\n")
            yield from map(Event.parse, whole)
    finally:
        os.close(ending)


def _pending(lines: int) -> bytes:
    """All that can be read without waiting."""
    parts = []
    try:
        while part := os.read(lines, 1 << 16):
            parts.append(part)
    except BlockingIOError:
        pass
    return b"".join(parts)


def _crash(code: int, output: IO[bytes]) -> ApplyError | None:
    """The last lines of Ansible's output, when it failed and no host did."""
    if code == 0:
        return None
    output.seek(0)
    printed = output.read().decode(errors="replace").strip().splitlines()
    return ApplyError(
        "Ansible itself failed",
        details="\n".join(printed[-_LAST_LINES:]) or f"it ended with code {code} and printed nothing",
    )
