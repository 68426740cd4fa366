"""Which offsets a batch covers, as Spark wrote them into the checkpoint before it began."""

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
    """Topic -> partition -> first offset and the one behind the last."""
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
    """The id that Spark gave the checkpoint when it was made; empty when there is none yet."""
    with _readable(checkpoint, "metadata"):
        metadata = checkpoint.load("metadata")
    return str(metadata["id"]) if metadata else ""


def last_committed(checkpoint: Folder) -> int:
    """The newest batch that Spark noted as done; -1 when there is none."""
    return _newest(checkpoint, "commits")


def last_planned(checkpoint: Folder) -> int:
    """The newest batch that Spark noted before it began; -1 when there is none."""
    newest = _newest(checkpoint, "offsets")
    if newest >= 0:
        end_offsets(checkpoint, newest)  # a file that cannot be read is found here, and not by Spark
    return newest


def next_offsets(checkpoint: Folder) -> EndOffsets:
    """Where the next batch begins that is not done."""
    done = last_committed(checkpoint)
    return end_offsets(checkpoint, done) if done >= 0 else _last_line(checkpoint.read("sources/0/0"))


def _newest(checkpoint: Folder, log: str) -> int:
    names = (name.rpartition("/")[2] for name in checkpoint.files(log))
    return max((int(name) for name in names if name.isdecimal()), default=-1)


def count_offsets(ranges: dict[str, dict[str, list[int]]]) -> int:
    """How many offsets that are."""
    return sum(end - start for partitions in ranges.values() for start, end in partitions.values())


def end_offsets(checkpoint: Folder, number: int) -> EndOffsets:
    """Where the batch ends in each partition."""
    with _readable(checkpoint, f"offsets/{number}"):
        return _last_line(checkpoint.read(f"offsets/{number}"))


@contextmanager
def _readable(checkpoint: Folder, name: str) -> Iterator[None]:
    """While a file is read that Spark wrote."""
    try:
        yield
    except ValueError as problem:
        raise RefusedJobError(
            f"the checkpoint is damaged: {checkpoint.path_of(name)} cannot be read",
            "put it back from a copy; to begin anew, give the job a new checkpoint and a new sink.path",
        ) from problem


def _last_line(text: str | None) -> EndOffsets:
    """The offsets are the last line of Spark's files, in JSON; the lines before are its own."""
    if text is None:
        return {}
    line: Any = (text.strip().splitlines() or [""])[-1]
    offsets = json.loads(line[line.index("{") :])
    if not all(isinstance(partitions, dict) for partitions in offsets.values()):
        raise ValueError(f"{line} tells no offsets")  # cut off after a line of Spark's own
    return dict(offsets)
