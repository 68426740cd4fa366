"""Where a job keeps what it has: the checkpoint and the sink, and whether they are this job's and can be written."""

from __future__ import annotations

import json
import shutil
import stat
from collections.abc import Iterable, Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any
from urllib.parse import unquote, urlsplit

from kcluster.clients.spark import submit_command
from kcluster.errors import LockedError, RefusedError
from kcluster.jobs import registry

IDENTITY = "kcluster.json"
"""The file in a checkpoint that says whose it is."""
LOCK = "kcluster.lock"
"""The file in a checkpoint that the job holds while it runs."""
LEAST_FREE = 100 << 20
"""Bytes that must be free where the sink is: less is a full disk."""


@dataclass(frozen=True)
class JobIdentity:
    """Whose a checkpoint is."""

    job: str
    name: str
    topics: list[str]
    sink: str
    cluster_id: str
    topic_ids: Mapping[str, str] = field(default_factory=dict)
    """As far as the brokers know them: one that was deleted and created again has another."""


def resolved(path: str, beside: Path) -> str:
    """A path as the job gets it: absolute, or the URI of another file system."""
    return path if _scheme(path) else str((beside / Path(path).expanduser()).absolute())


def here(path: str) -> Path | None:
    """The path on this machine; None for another file system."""
    if not _scheme(path):
        return Path(path)
    parts = urlsplit(path)
    return Path(unquote(parts.path)) if parts.scheme == "file" else None


def shared(paths: Iterable[str], master: str, *, promised: bool) -> None:
    """Refuse folders of this machine for a job whose work is done on others."""
    own = [path for path in paths if path and here(path)]
    if own and not submit_command.local(master) and not promised:
        raise RefusedError(
            f"{own[0]} is a folder of this machine, and with --master {master} other machines read and write it",
            resolution="give a path of a shared file system, or say --shared-path when it is the same on every host",
        )


def unclaimed(folder: Path, checkpoint: str, sink: str) -> None:
    """Refuse the checkpoint or the sink of another job that runs, also of one that nobody here submitted."""
    for other in (job for job in registry.every() if job.folder != folder):
        for what, path in (("checkpoint", checkpoint), ("sink", sink)):
            if path and path == getattr(other.record, what) and other.alive:
                stop = f"kcluster job stop {other.record.cluster}/{other.name}"  # it may have the name of this one
                raise LockedError(
                    f"the {what} {path} is in use by the running job {other.name} (pid {other.record.process.pid})",
                    resolution=f"{stop}, or give this job a {what} of its own",
                )
    if checkpoint and (progress := here(checkpoint)) and registry.in_use(progress / LOCK):
        raise LockedError(
            f"the checkpoint {checkpoint} is in use by a running job that was not submitted from here",
            resolution="end that job where it was started, or give this one a checkpoint of its own",
        )


def owned(checkpoint: str, mine: JobIdentity) -> None:
    """Refuse the checkpoint of another job, also of this one when its topics are others now.

    One that nothing was read with may become anybody's: the driver notes whose it is when it starts.
    """
    folder = here(checkpoint)
    if folder is None:  # the driver asks there
        return
    _writable(folder, "checkpoint")
    if (owner := _owner(folder)) is None:
        return
    if _begun(folder):
        _same(checkpoint, owner, mine)
    _sound(folder)


def writable(sink: str) -> None:
    """Refuse a sink that cannot be written, and a disk that is full."""
    folder = here(sink)
    if folder is None:
        return
    _writable(folder, "sink")
    free = shutil.disk_usage(folder).free
    if free < LEAST_FREE:
        raise RefusedError(
            f"the disk of the sink {sink} is full: {free >> 20} MB are free",
            resolution="make room (see `df -h`), or give the job another sink.path",
        )


def belongs(sink: str, checkpoint: str) -> None:
    """Refuse a sink that was filled with a checkpoint that is gone: batches would be taken for those of before."""
    table, progress = here(sink), here(checkpoint)
    if table is None or progress is None or _begun(progress):
        return
    if any(table.glob("_kcluster/batches/*.json")):
        raise RefusedError(
            f"the sink {sink} holds rows, and the checkpoint that knows which is gone from {checkpoint}",
            resolution="bring the checkpoint back, or give the job another sink.path",
        )


def _scheme(path: str) -> str:
    return urlsplit(path).scheme


def _writable(folder: Path, what: str) -> None:
    """Try it: root may write where the mode says no, and may not where the mode says yes."""
    probe = folder / ".kcluster-probe"
    try:
        _make(folder)
        probe.write_text("")
        probe.unlink()
    except OSError as problem:
        raise RefusedError(
            f"the {what} {folder} cannot be written: {problem.strerror}",
            resolution=f"repair it, or give the job another {'sink.path' if what == 'sink' else what} in its file",
        ) from problem


def _make(folder: Path) -> None:
    """Make a folder; in one that hands on its group, that group may write here too: executors may run in it."""
    if folder.is_dir():
        return
    _make(folder.parent)
    folder.mkdir(exist_ok=True)
    mode = folder.stat().st_mode
    if mode & stat.S_ISGID:
        folder.chmod(stat.S_IMODE(mode) | stat.S_IWGRP)


def _owner(folder: Path) -> Mapping[str, Any] | None:
    """Whose the checkpoint is; None of an empty one."""
    try:
        return dict(json.loads((folder / IDENTITY).read_text()))
    except FileNotFoundError:
        if any((folder / part).exists() for part in ("metadata", "offsets", "commits")):
            raise RefusedError(
                f"the checkpoint {folder} was not made by kcluster, so nobody knows which topics it is of",
                resolution="give the job a checkpoint of its own",
            ) from None
        return None
    except (OSError, ValueError, TypeError) as problem:
        raise _broken(folder, folder / IDENTITY) from problem


def _begun(folder: Path) -> bool:
    """Whether anything was read with a checkpoint."""
    return any(folder.glob("offsets/[0-9]*"))


def _same(checkpoint: str, owner: Mapping[str, Any], mine: JobIdentity) -> None:
    """Refuse an owner that is another job, or read other topics under the same names."""
    way_out = "give this job another --name, or another checkpoint and sink in its file"
    if differences := _differences(owner, mine):
        raise RefusedError(
            f"the checkpoint {checkpoint} belongs to another job", details="\n".join(differences), resolution=way_out
        )
    before = owner.get("topic_ids", {})  # older versions did not note them
    if anew := [name for name, told in mine.topic_ids.items() if before.get(name, told) != told]:
        raise RefusedError(
            f"{_word(anew)} was deleted and created again since this job read it, so its offsets mean other records",
            details=f"the checkpoint {checkpoint} is of the topic that is gone",
            resolution=f"{way_out}: that reads the new one from the start",
        )


def _differences(owner: Mapping[str, Any], mine: JobIdentity) -> list[str]:
    return [
        f"{key.replace('_', ' ')}: it is of {_word(owner.get(key))}, this is {_word(value)}"
        for key, value in asdict(mine).items()
        if key != "topic_ids" and owner.get(key) != value
    ]


def _word(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _sound(folder: Path) -> None:
    """Refuse a checkpoint whose newest files Spark could not read."""
    if (folder / "metadata").exists():
        _json(folder, folder / "metadata")
    for part in ("offsets", "commits"):
        numbered = [file for file in folder.glob(f"{part}/*") if file.name.isdigit()]
        if numbered:
            _json(folder, max(numbered, key=lambda file: int(file.name)))


def _json(folder: Path, file: Path) -> None:
    """Whether the last line of a file is JSON, as Spark writes it."""
    try:
        json.loads(file.read_text().strip().splitlines()[-1])
    except (OSError, ValueError, IndexError) as problem:
        raise _broken(folder, file) from problem


def _broken(folder: Path, file: Path) -> RefusedError:
    return RefusedError(
        f"the checkpoint {folder} is damaged: {file.name} cannot be read",
        details=str(file),
        resolution="bring it back from a copy, or begin again with another --name: that reads from the start",
    )
