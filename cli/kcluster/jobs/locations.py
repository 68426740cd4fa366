"""Checks of checkpoint and sink before a job starts: they belong to this job and can be written."""

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
"""The file in a checkpoint with its owner."""
LOCK = "kcluster.lock"
"""The file in a checkpoint that a running job locks."""
LEAST_FREE = 100 << 20
"""Bytes that must be free on the disk of the sink."""


@dataclass(frozen=True)
class JobIdentity:
    """The owner of a checkpoint."""

    job: str
    name: str
    topics: list[str]
    sink: str
    cluster_id: str
    topic_ids: Mapping[str, str] = field(default_factory=dict)
    """Topic -> id, where the brokers have ids: a topic that was deleted and created again has a new one."""


def absolute_path(path: str, beside: Path) -> str:
    """The absolute path; URIs stay as they are."""
    return path if _scheme(path) else str((beside / Path(path).expanduser()).absolute())


def local_path(path: str) -> Path | None:
    """The path of a folder or file: URI; None for another file system."""
    if not _scheme(path):
        return Path(path)
    parts = urlsplit(path)
    return Path(unquote(parts.path)) if parts.scheme == "file" else None


def require_shared(paths: Iterable[str], master: str, *, confirmed: bool) -> None:
    """Refuse local folders for a job with executors on other hosts, unless the user confirmed that they are shared."""
    local = [path for path in paths if path and local_path(path)]
    if local and not submit_command.is_local(master) and not confirmed:
        raise RefusedError(
            f"{local[0]} is a folder of this machine, but with --master {master} other hosts read and write it",
            resolution="use a path of a shared file system, or add --shared-path when every host mounts this folder",
        )


def require_unused(job_dir: Path, checkpoint: str, sink: str) -> None:
    """Refuse a checkpoint or sink that another running job uses; LockedError names the job."""
    for other in (job for job in registry.all_jobs() if job.folder != job_dir):
        for what, path in (("checkpoint", checkpoint), ("sink", sink)):
            if path and path == getattr(other.record, what) and other.alive:
                stop = f"kcluster job stop {other.record.cluster}/{other.name}"  # it may have the same name
                raise LockedError(
                    f"{what} {path} is in use by the running job {other.name} (pid {other.record.process.pid})",
                    resolution=f"{stop}, or give this job its own {what}",
                )
    if checkpoint and (folder := local_path(checkpoint)) and registry.is_locked(folder / LOCK):
        raise LockedError(
            f"checkpoint {checkpoint} is in use by a running job that was not submitted on this machine",
            resolution="stop that job where it was started, or give this job its own checkpoint",
        )


def require_owner(checkpoint: str, identity: JobIdentity) -> None:
    """Refuse a checkpoint of another job, of recreated topics, or with damaged files.

    An unused checkpoint is free for any job: the driver writes its owner when it starts.
    """
    folder = local_path(checkpoint)
    if folder is None:  # checked by the driver
        return
    _require_writable_dir(folder, "checkpoint")
    if (owner := _owner(folder)) is None:
        return
    if _has_read(folder):
        _require_same_job(checkpoint, owner, identity)
    _require_readable(folder)


def require_writable(sink: str) -> None:
    """Refuse a sink without write permission or with less than LEAST_FREE bytes free."""
    folder = local_path(sink)
    if folder is None:
        return
    _require_writable_dir(folder, "sink")
    free = shutil.disk_usage(folder).free
    if free < LEAST_FREE:
        raise RefusedError(
            f"the disk of sink {sink} is full: {free >> 20} MB free",
            resolution="free space (see `df -h`), or give the job another sink.path",
        )


def require_checkpoint_of_sink(sink: str, checkpoint: str) -> None:
    """Refuse a sink with rows whose checkpoint is missing: new batches would be taken for existing ones."""
    table, progress = local_path(sink), local_path(checkpoint)
    if table is None or progress is None or _has_read(progress):
        return
    if any(table.glob("_kcluster/batches/*.json")):
        raise RefusedError(
            f"sink {sink} has rows, but its checkpoint {checkpoint} is missing",
            resolution="restore the checkpoint, or give the job another sink.path",
        )


def _scheme(path: str) -> str:
    return urlsplit(path).scheme


def _require_writable_dir(folder: Path, what: str) -> None:
    """Write a probe file: permission bits alone are wrong for root and for read-only mounts."""
    probe = folder / ".kcluster-probe"
    try:
        _make_dir(folder)
        probe.write_text("")
        probe.unlink()
    except OSError as problem:
        raise RefusedError(
            f"{what} {folder} is not writable: {problem.strerror}",
            resolution=f"correct it, or set another {'sink.path' if what == 'sink' else what} in the job's file",
        ) from problem


def _make_dir(folder: Path) -> None:
    """Create a folder; below a setgid folder with write permission for its group, which executors may be in."""
    if folder.is_dir():
        return
    _make_dir(folder.parent)
    folder.mkdir(exist_ok=True)
    mode = folder.stat().st_mode
    if mode & stat.S_ISGID:
        folder.chmod(stat.S_IMODE(mode) | stat.S_IWGRP)


def _owner(folder: Path) -> Mapping[str, Any] | None:
    """The owner of a checkpoint; None for an empty one."""
    try:
        return dict(json.loads((folder / IDENTITY).read_text()))
    except FileNotFoundError:
        if any((folder / part).exists() for part in ("metadata", "offsets", "commits")):
            raise RefusedError(
                f"checkpoint {folder} was not created by kcluster: its topics are unknown",
                resolution="give the job its own checkpoint",
            ) from None
        return None
    except (OSError, ValueError, TypeError) as problem:
        raise _damaged(folder, folder / IDENTITY) from problem


def _has_read(folder: Path) -> bool:
    """Whether a job has read with this checkpoint."""
    return any(folder.glob("offsets/[0-9]*"))


def _require_same_job(checkpoint: str, owner: Mapping[str, Any], identity: JobIdentity) -> None:
    """Refuse another owner, and topics that were recreated since."""
    resolution = "give this job another --name, or another checkpoint and sink in its file"
    if differences := _differences(owner, identity):
        raise RefusedError(
            f"checkpoint {checkpoint} belongs to another job", details="\n".join(differences), resolution=resolution
        )
    before = owner.get("topic_ids", {})  # older versions have none
    if recreated := [name for name, topic_id in identity.topic_ids.items() if before.get(name, topic_id) != topic_id]:
        raise RefusedError(
            f"topic {_text(recreated)} was deleted and created again since this job read it: its offsets are not valid",
            details=f"checkpoint {checkpoint} belongs to the deleted topic",
            resolution=f"{resolution}: it then reads the new topic from the start",
        )


def _differences(owner: Mapping[str, Any], identity: JobIdentity) -> list[str]:
    return [
        f"{key.replace('_', ' ')}: {_text(owner.get(key))} in the checkpoint, {_text(value)} in this job"
        for key, value in asdict(identity).items()
        if key != "topic_ids" and owner.get(key) != value
    ]


def _text(value: Any) -> str:
    return ", ".join(map(str, value)) if isinstance(value, list) else str(value)


def _require_readable(folder: Path) -> None:
    """Refuse a checkpoint whose newest files are damaged; the driver removes those that a power cut left empty."""
    if (folder / "metadata").exists() and (folder / "metadata").stat().st_size:
        _require_json(folder, folder / "metadata")
    for part in ("offsets", "commits"):
        numbered = [file for file in folder.glob(f"{part}/*") if file.name.isdigit() and file.stat().st_size]
        if numbered:
            _require_json(folder, max(numbered, key=lambda file: int(file.name)))


def _require_json(folder: Path, file: Path) -> None:
    """Refuse a file whose last line is not JSON."""
    try:
        json.loads(file.read_text().strip().splitlines()[-1])
    except (OSError, ValueError, IndexError) as problem:
        raise _damaged(folder, file) from problem


def _damaged(folder: Path, file: Path) -> RefusedError:
    return RefusedError(
        f"checkpoint {folder} is damaged: {file.name} cannot be read",
        details=str(file),
        resolution="restore it from a backup, or start over with another --name, which reads from the start",
    )
