"""The offsets of each batch, from Spark's logs in the checkpoint (`sources`, `offsets`, `commits`)."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from spark_jobs.runtime.error_causes import RefusedJobError
from spark_jobs.runtime.folder import Folder

EndOffsets = dict[str, dict[str, int]]
"""Topic -> partition -> offset."""


def batch_ranges(checkpoint: Folder, number: int) -> dict[str, dict[str, list[int]]]:
    """Topic -> partition -> [first offset, last offset + 1] of a batch, without empty partitions."""
    stops = end_offsets(checkpoint, number)
    starts = end_offsets(checkpoint, number - 1) if number else _last_line(checkpoint.read("sources/0/0"))
    return {
        topic: {
            partition: [starts.get(topic, {}).get(partition, 0), end]
            for partition, end in partitions.items()
            if end > starts.get(topic, {}).get(partition, 0)
        }
        for topic, partitions in stops.items()
    }


def checkpoint_id(checkpoint: Folder) -> str:
    """The id of the checkpoint in its metadata; empty without a checkpoint, refused when it is damaged."""
    with _readable(checkpoint, "metadata"):
        metadata = checkpoint.load("metadata")
    return str(metadata["id"]) if metadata else ""


def last_committed(checkpoint: Folder) -> int:
    """The newest batch in Spark's commit log; -1 when there is none."""
    return _newest(checkpoint, "commits")


def last_planned(checkpoint: Folder) -> int:
    """The newest batch in Spark's offset log; -1 when there is none, refused when its file is damaged."""
    newest = _newest(checkpoint, "offsets")
    if newest >= 0:
        end_offsets(checkpoint, newest)  # refuse a damaged file here, with a message that Spark would not give
    return newest


def sync_planned(checkpoint: Folder, number: int) -> None:
    """Let the offsets of a batch outlive a power cut, which must be done before anything that belongs to it does.

    Spark syncs none of its logs. A lost entry of `commits` only repeats a batch, which then is found to be done; with
    lost offsets Spark would plan other ones under the same number.
    """
    for name in (*(("metadata", "sources") if number == 0 else ()), f"offsets/{number}"):
        checkpoint.sync(name)


def drop_empty(checkpoint: Folder, done: int) -> None:
    """Remove what a power cut left empty of Spark's newest files; their batches are planned again, or repeated.

    Files on which output depends are kept, as those were synced: `done` is the newest batch with output, -1 for none.
    """
    for name in ("metadata", "sources/0/0") if done < 0 else ():
        if checkpoint.read(name) == "":
            checkpoint.remove(name)
    for log, oldest in (("commits", -1), ("offsets", done)):
        while (newest := _newest(checkpoint, log)) > oldest and checkpoint.read(f"{log}/{newest}") == "":
            checkpoint.remove(f"{log}/{newest}")


def next_offsets(checkpoint: Folder) -> EndOffsets:
    """The offsets at which the next uncommitted batch begins."""
    done = last_committed(checkpoint)
    return end_offsets(checkpoint, done) if done >= 0 else _last_line(checkpoint.read("sources/0/0"))


def _newest(checkpoint: Folder, log: str) -> int:
    names = (name.rpartition("/")[2] for name in checkpoint.files(log))
    return max((int(name) for name in names if name.isdecimal()), default=-1)


def count_offsets(ranges: dict[str, dict[str, list[int]]]) -> int:
    """How many offsets are in these ranges."""
    return sum(end - start for partitions in ranges.values() for start, end in partitions.values())


def end_offsets(checkpoint: Folder, number: int) -> EndOffsets:
    """Topic -> partition -> last offset + 1 of a planned batch; refused when the file is damaged."""
    with _readable(checkpoint, f"offsets/{number}"):
        return _last_line(checkpoint.read(f"offsets/{number}"))


@contextmanager
def _readable(checkpoint: Folder, name: str) -> Iterator[None]:
    """Turns a ValueError while one of Spark's files is read into a refusal that names the file."""
    try:
        yield
    except ValueError as problem:
        raise RefusedJobError(
            f"the checkpoint is damaged: {checkpoint.path_of(name)} cannot be read",
            "restore it from a backup; to start over, give the job a new checkpoint and a new sink.path",
        ) from problem


def _last_line(text: str | None) -> EndOffsets:
    """The offsets: JSON in the last line of Spark's files; the lines before hold a version and metadata."""
    if text is None:
        return {}
    line: Any = (text.strip().splitlines() or [""])[-1]
    offsets = json.loads(line[line.index("{") :])
    if not all(isinstance(partitions, dict) for partitions in offsets.values()):
        raise ValueError(f"no offsets in {line}")  # the file was cut off after the metadata
    return dict(offsets)
