"""The journal: one file per run that changes a cluster, a line for each step, written while the run works."""

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
from contextlib import contextmanager, suppress
from dataclasses import asdict, dataclass, field
from datetime import datetime
from pathlib import Path
from types import TracebackType
from typing import Any

from kcluster import __version__, paths
from kcluster.config.escaping import HIDDEN, masked, secret
from kcluster.errors import ApplyError, ExitCode, KclusterError

ROOM = 1 << 20
"""Bytes that must be free before a run begins: its journal must not be the first thing that is lost."""

_DISK = (errno.ENOSPC, errno.EDQUOT, errno.EACCES, errno.EPERM, errno.EROFS, errno.ENOTDIR, errno.EEXIST)
_SETTING = re.compile(r"^(?P<key>[+\- ]*[\w.\-]+)(?P<is>\s*[=:]\s*).+$", re.MULTILINE)
_OPTION = re.compile(r"""(?<![\w.\-])(?P<key>[\w.\-]+)(?P<is>=)("[^"]*"|'[^']*'|[^\s,;]+)""")


@dataclass(frozen=True)
class Owner:
    """Who works on a cluster: a person, a machine, a process, and the command."""

    user: str
    machine: str
    pid: int
    since: str
    words: tuple[str, ...]

    @classmethod
    def here(cls, words: Sequence[str]) -> Owner:
        """This process, from now on; secrets among the words of the command are hidden."""
        return cls(_user(), os.uname().nodename, os.getpid(), now(), hidden_words(words))

    @classmethod
    def of(cls, facts: Mapping[str, Any]) -> Owner:
        """The owner that was written down; what is missing is unknown."""
        text = {key: str(facts.get(key) or "unknown") for key in ("user", "machine", "since")}
        return cls(pid=int(facts.get("pid") or 0), words=tuple(facts.get("words") or ()), **text)

    @property
    def command(self) -> str:
        """The command as it was typed."""
        import shlex  # lazily: only people need it

        return shlex.join(self.words)


class Journal:
    """The journal of the run that goes on; notes may come from several threads.

    Begin it when the lock is held: a run that was refused did nothing. A disk that is full is told before anything
    is changed; later it only costs notes, which are counted.
    """

    def __init__(self, file: Path, words: Sequence[str]) -> None:
        self.file = file
        self._lock = threading.Lock()
        self._began = time.monotonic()
        self._lost = 0
        self._no = ""
        self._descriptor = os.open(file, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
        # Whoever reads knows by it that the run still goes on; the kernel lets go, however the run ends.
        fcntl.flock(self._descriptor, fcntl.LOCK_EX)
        try:
            self._write("begin", {**asdict(Owner.here(words)), "version": __version__})
        except OSError:
            file.unlink()  # a run that never began has no number
            os.close(self._descriptor)
            raise

    @classmethod
    def begin(cls, name: str, words: Sequence[str]) -> Journal:
        """A new journal under the next number of the cluster, which no other run has."""
        folder = _folder(name)
        with writable(folder):
            folder.mkdir(parents=True, exist_ok=True)
            _check_room(folder)
            return cls._numbered(folder, words)

    @classmethod
    def _numbered(cls, folder: Path, words: Sequence[str]) -> Journal:
        while True:
            file = folder / f"{max(_numbers(folder), default=0) + 1}.jsonl"
            with suppress(FileExistsError):  # another run was quicker: the next number then
                return cls(file, words)

    @property
    def number(self) -> int:
        """The number of the run, as `kcluster history show` wants it."""
        return int(self.file.stem)

    def note(self, event: str, **facts: Any) -> None:
        """Write one line now: note("step", phase="apply", host="h1", what="...", status="changed", seconds=0.4)."""
        try:
            self._write(event, facts)
        except OSError:  # the disk is full or gone: a cluster half changed would be worse than a line lost
            self._lost += 1

    def said_no(self, message: str) -> None:
        """The run ends with a no, not with an error: checks, health or smoke refused."""
        self._no = message

    def __enter__(self) -> Journal:
        """The journal itself."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Write how the run ended."""
        outcome, message, code = self._ended(problem)
        seconds = round(time.monotonic() - self._began, 3)
        self.note("end", outcome=outcome, message=message, exit_code=code, seconds=seconds, lost=self._lost)
        os.close(self._descriptor)

    def _ended(self, problem: BaseException | None) -> tuple[str, str, int]:
        if problem is None:
            return ("failed", self._no, int(ExitCode.NO)) if self._no else ("done", "", int(ExitCode.DONE))
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
    """One run as its journal tells it."""

    number: int
    owner: Owner
    version: str
    outcome: str
    """"done", "failed", "interrupted", or "running" while it goes on."""
    message: str = ""
    exit_code: int | None = None
    seconds: float | None = None
    lost: int = 0
    """Lines that could not be written because the disk was full."""
    notes: tuple[Mapping[str, Any], ...] = field(default=())
    """What happened in between: the lines as they were noted."""


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
        going_on = _held(file.fileno())  # asked first: what ends in between then ends with its last line
        lines = list(_lines(file.read()))
    begin = lines.pop(0) if lines and lines[0].get("event") == "begin" else {}
    end = lines.pop() if lines and lines[-1].get("event") == "end" else {}
    return Run(
        number=number,
        owner=Owner.of(begin),
        version=str(begin.get("version", "")),
        outcome=end.get("outcome") or ("running" if going_on else "interrupted"),
        notes=tuple(lines),
        **{key: end[key] for key in ("message", "exit_code", "seconds", "lost") if key in end},
    )


def now() -> str:
    """The time with its zone, as journals and locks write it."""
    return datetime.now().astimezone().isoformat(timespec="milliseconds")


def hidden_words(words: Sequence[str]) -> tuple[str, ...]:
    """A command's words without the values that must not be seen."""
    before = ["", *words]
    return tuple(
        HIDDEN if option.startswith("--") and not word.startswith("-") and _is_secret(option) else _hidden("", word)
        for option, word in zip(before, words, strict=False)
    )


@contextmanager
def writable(folder: Path, *, unchanged: str = "; nothing was changed") -> Iterator[None]:
    """Raise ApplyError with a fix where the disk refuses a write in the block; `unchanged` ends the message."""
    try:
        yield
    except OSError as problem:
        if problem.errno not in _DISK:
            raise
        full = problem.errno in (errno.ENOSPC, errno.EDQUOT)
        raise ApplyError(
            f"{problem.filename or folder} cannot be written: {problem.strerror}{unchanged}",
            resolution="make room (see `df -h`)" if full else "set KCLUSTER_HOME to a folder you may write to",
        ) from problem


def _user() -> str:
    try:
        return pwd.getpwuid(os.geteuid()).pw_name
    except KeyError:  # a container often has no name for its user
        return str(os.geteuid())


def _check_room(folder: Path) -> None:
    disk = os.statvfs(folder)
    if disk.f_bavail * disk.f_frsize < ROOM:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC), str(folder))


def _folder(name: str) -> Path:
    return paths.home() / "clusters" / name / "journal"


def _numbers(folder: Path) -> list[int]:
    return [int(file.stem) for file in folder.glob("*.jsonl") if file.stem.isdecimal()]


def _held(descriptor: int) -> bool:
    """Whether the run that writes this file still goes on."""
    try:
        fcntl.flock(descriptor, fcntl.LOCK_SH | fcntl.LOCK_NB)
    except BlockingIOError:
        return True
    return False


def _lines(text: bytes) -> Iterator[dict[str, Any]]:
    """The lines that were written to their end."""
    for line in text.splitlines():
        with suppress(ValueError):  # the run was killed while it wrote this one
            record = json.loads(line)
            if isinstance(record, dict):
                yield record


def _hidden(key: str, value: Any) -> Any:
    """A value as it may be written; also a secret setting inside a text, a command or a diff is hidden."""
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
