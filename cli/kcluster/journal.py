"""The journal: one file per run that changes a cluster, a line for each step, written during the run."""

from __future__ import annotations

import errno
import fcntl
import json
import os
import pwd
import re
import threading
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from kcluster import __version__, file_lock, paths
from kcluster.config.escaping import HIDDEN, masked, secret
from kcluster.errors import ExitCode, KclusterError

NOTHING_CHANGED = "; nothing was changed"
"""Ends the error for a disk that refuses the lock or the journal: both are written before the cluster is touched."""

MIN_FREE_BYTES = 1 << 20
"""Bytes that must be free on its disk before a run begins."""

_SETTING = re.compile(r"^(?P<key>[+\- ]*[\w.\-]+)(?P<is>\s*[=:]\s*).+$", re.MULTILINE)
_OPTION = re.compile(r"""(?<![\w.\-])(?P<key>[\w.\-]+)(?P<is>=)("[^"]*"|'[^']*'|[^\s,;]+)""")


@dataclass(frozen=True)
class Owner:
    """The run that works on a cluster: its user, machine, process and command."""

    user: str
    machine: str
    pid: int
    since: str
    words: tuple[str, ...]

    @classmethod
    def here(cls, words: Sequence[str]) -> Owner:
        """This process, from now on; secrets in the command are hidden."""
        return cls(_user(), os.uname().nodename, os.getpid(), now(), hidden_words(words))

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Owner:
        """The recorded owner; what is missing is "unknown"."""
        text = {key: str(facts.get(key) or "unknown") for key in ("user", "machine", "since")}
        return cls(pid=int(facts.get("pid") or 0), words=tuple(facts.get("words") or ()), **text)

    @property
    def command(self) -> str:
        """The command as it was typed."""
        import shlex  # lazily: only needed for people

        return shlex.join(self.words)


class Journal:
    """The journal of a run in progress; notes may come from several threads.

    Begin it under the lock of the cluster: a run that was refused did nothing. A full disk is an error before anything
    is changed; later it only loses notes, which are counted.
    """

    def __init__(self, file: Path, words: Sequence[str]) -> None:
        self.file = file
        self._lock = threading.Lock()
        self._began = time.monotonic()
        self._lost = 0
        self._failure = ""
        self._descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        # The lock tells readers that the run is in progress; the kernel releases it, however the run ends.
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        try:
            self._write("begin", {**asdict(Owner.here(words)), "version": __version__})
        except OSError:
            file.unlink()  # a run that never began has no number
            os.close(self._descriptor)
            raise

    @classmethod
    def begin(cls, name: str, words: Sequence[str]) -> Journal:
        """A new journal under the next run number of the cluster; ApplyError when its disk is full or not writable."""
        folder = _folder(name)
        with file_lock.writable(folder, NOTHING_CHANGED):
            folder.mkdir(parents=True, exist_ok=True)
            _check_free_space(folder)
            return cls._numbered(folder, words)

    @classmethod
    def _numbered(cls, folder: Path, words: Sequence[str]) -> Journal:
        while True:
            file = folder / f"{max(_numbers(folder), default=0) + 1}.jsonl"
            with suppress(FileExistsError):  # another run took this number
                return cls(file, words)

    @property
    def number(self) -> int:
        """The number of the run, as in `kcluster history show N`."""
        return int(self.file.stem)

    def note(self, event: str, **facts: Any) -> None:
        """Write one line now: note("step", phase="apply", host="h1", what="...", status="changed", seconds=0.4)."""
        try:
            self._write(event, facts)
        except OSError:  # the disk is full or gone: a cluster half changed would be worse than a line lost
            self._lost += 1

    def failed(self, message: str) -> None:
        """Record that the run fails without an error: checks, health or the smoke test failed."""
        self._failure = message

    def __enter__(self) -> Journal:
        """The journal itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write the outcome of the run."""
        outcome, message, code = self._ended(problem)
        seconds = round(time.monotonic() - self._began, 3)
        self.note("end", outcome=outcome, message=message, exit_code=code, seconds=seconds, lost=self._lost)
        os.close(self._descriptor)

    def _ended(self, problem: BaseException | None) -> tuple[str, str, int]:
        if problem is None:
            return ("failed", self._failure, int(ExitCode.NO)) if self._failure else ("done", "", int(ExitCode.DONE))
        if isinstance(problem, KeyboardInterrupt):
            return "interrupted", "", int(ExitCode.INTERRUPTED)
        if isinstance(problem, KclusterError):
            return "failed", problem.message, int(problem.exit_code)
        return "failed", f"{type(problem).__name__}: {problem}", int(ExitCode.BUG)

    def _write(self, event: str, facts: Mapping[str, Any]) -> None:
        record = {"event": event, "at": now(), **{key: _hidden(key, value) for key, value in facts.items()}}
        # A name of the file system that is no UTF-8 becomes an escape that JSON reads.
        line = json.dumps(record, default=str, ensure_ascii=False).encode("utf-8", "backslashreplace") + b"\n"
        with self._lock:
            self._append(line)
            if event != "step":
                os.fsync(self._descriptor)

    def _append(self, line: bytes) -> None:
        start = os.lseek(self._descriptor, 0, os.SEEK_END)
        try:
            left = line
            while left:
                left = left[os.write(self._descriptor, left) :]
        except OSError:
            with suppress(OSError):  # half a line would spoil the next one
                os.ftruncate(self._descriptor, start)
            raise


@dataclass(frozen=True)
class Run:
    """One run, as its journal records it."""

    number: int
    owner: Owner
    version: str
    outcome: str
    """"done", "failed", "interrupted", or "running" while it is in progress."""
    message: str = ""
    exit_code: int | None = None
    seconds: float | None = None
    lost: int = 0
    """Lines that could not be written because the disk was full."""
    notes: tuple[Mapping[str, Any], ...] = field(default=())
    """The lines between the first and the last, as they were noted."""


def clusters() -> list[str]:
    """The clusters of which runs are recorded on this machine."""
    return sorted(folder.parent.name for folder in (paths.home() / "clusters").glob("*/journal") if _numbers(folder))


def runs(name: str, last: int | None = None) -> list[Run]:
    """The runs of a cluster, the newest last."""
    numbers = sorted(_numbers(_folder(name)))
    return [read(name, number) for number in (numbers if last is None else numbers[max(len(numbers) - last, 0) :])]


def read(name: str, number: int) -> Run:
    """One run; FileNotFoundError when there is none of that number."""
    with open(_folder(name) / f"{number}.jsonl", "rb") as file:
        in_progress = file_lock.is_locked(file.fileno())  # asked first: a run that ends now has its last line
        lines = list(_lines(file.read()))
    begin = lines.pop(0) if lines and lines[0].get("event") == "begin" else {}
    end = lines.pop() if lines and lines[-1].get("event") == "end" else {}
    return Run(
        number=number,
        owner=Owner.of(begin),
        version=str(begin.get("version", "")),
        outcome=end.get("outcome") or ("running" if in_progress else "interrupted"),
        notes=tuple(lines),
        **{key: end[key] for key in ("message", "exit_code", "seconds", "lost") if key in end},
    )


def now() -> str:
    """The time with its zone, as journals and locks write it."""
    return datetime.now().astimezone().isoformat(timespec="milliseconds")


def hidden_words(words: Sequence[str]) -> tuple[str, ...]:
    """The words of a command with secret values replaced."""
    before = ["", *words]
    return tuple(
        HIDDEN if option.startswith("--") and not word.startswith("-") and _is_secret(option) else _hidden("", word)
        for option, word in zip(before, words, strict=False)
    )


def _user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:  # a container often has no name for its user
        return str(os.geteuid())


def _check_free_space(folder: Path) -> None:
    disk = os.statvfs(folder)
    if disk.f_bavail * disk.f_frsize < MIN_FREE_BYTES:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))


def _folder(name: str) -> Path:
    return paths.home() / "clusters" / name / "journal"


def _numbers(folder: Path) -> list[int]:
    return [int(file.stem) for file in folder.glob("*.jsonl") if file.stem.isdecimal()]


def _lines(text: bytes) -> Iterator[dict[str, Any]]:
    """The complete lines."""
    for line in text.splitlines():
        with suppress(ValueError):  # the run was killed while it wrote this one
            record = json.loads(line)
            if isinstance(record, dict):
                yield record


def _hidden(key: str, value: Any) -> Any:
    """A value without secrets, also without secret settings inside a text, a command or a diff."""
    if isinstance(value, Mapping):
        return {str(inner): _hidden(str(inner), below) for inner, below in value.items()}
    if isinstance(value, (list, tuple)):
        return [_hidden(key, below) for below in value]
    if not isinstance(value, str):
        return value
    if secret(key, value) or masked(key, value) == HIDDEN:
        return HIDDEN
    return _OPTION.sub(_setting, _SETTING.sub(_setting, masked("", value)))


def _setting(found: re.Match[str]) -> str:
    return f"{found['key']}{found['is']}{HIDDEN}" if _is_secret(found["key"]) else found[0]


def _is_secret(word: str) -> bool:
    key = word.lstrip("+- ")
    return not key.endswith("-file") and (secret(key, "x") or masked(key, "x") == HIDDEN)
