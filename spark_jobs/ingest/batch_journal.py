"""What each batch of an ingest was: a file for each, beside the rows, and how many become one.

It says which offsets, how many rows and dead letters, and for Parquet which files. The audit believes it of what was
read, and counts the rest itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spark_jobs.runtime.folder import Folder

JOB_FOLDER = "_kcluster"
"""The folder in a table that is the job's own."""
BATCHES, STAGED = f"{JOB_FOLDER}/batches", f"{JOB_FOLDER}/staged"
BATCHES_PER_SUMMARY = 100
"""Descriptions of that many batches become one, so that weeks of batches are few files."""


def description_file(number: int) -> str:
    """The file that describes a batch."""
    return f"{BATCHES}/{number:09d}.json"


def batches(folder: Folder) -> list[dict[str, Any]]:
    """What describes the batches so far, in order; a summary stands for several, `first` to `batch`."""
    files = _spans(folder)
    files_loaded = (folder.load(files[span]) for span in sorted(files, key=lambda one: (one[0], -one[1])))
    # A job may be folding meanwhile: a summary is there before the files it replaces go.
    loaded = [batch for batch in files_loaded if batch is not None]
    return list(_outermost(loaded))


def last_batch(folder: Folder) -> int:
    """The last batch that is described; -1 when there is none."""
    return max((last for _, last in _spans(folder)), default=-1)


def load_batch(folder: Folder, number: int) -> Any:
    """What describes a batch, or the batches up to it; None when nothing does."""
    return next((folder.load(name) for (_, last), name in _spans(folder).items() if last == number), None)


def compact(folder: Folder, number: int) -> None:
    """Before every hundredth batch: put one summary in place of the descriptions of those before, which are done.

    The summary is written first; where a run was cut off before the others were deleted, the summary counts.
    """
    if number % BATCHES_PER_SUMMARY or not number:
        return
    single = {first: name for (first, last), name in _spans(folder).items() if first == last < number}
    loaded = [folder.load(name) for _, name in sorted(single.items())]
    if len(loaded) == BATCHES_PER_SUMMARY and (summary := _summary(loaded)):
        folder.save(f"{BATCHES}/{number - BATCHES_PER_SUMMARY:09d}-{number - 1:09d}.json", summary)
    for first, last in list(_spans(folder)):
        if first < last:
            for each in range(first, last + 1):
                if each in single:
                    folder.remove(single[each])


def _spans(folder: Folder) -> dict[tuple[int, int], str]:
    """First and last batch of each description -> its file."""
    names = [name for name in folder.files(BATCHES) if name.endswith(".json")]
    stems = (PurePosixPath(name).stem.split("-") for name in names)
    return {(int(stem[0]), int(stem[-1])): name for stem, name in zip(stems, names, strict=True)}


def _outermost(loaded: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """Without those that a summary before them covers."""
    done = -1
    for batch in loaded:
        if batch["batch"] > done:
            done = batch["batch"]
            yield batch


def _summary(loaded: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Several batches as one; None when they do not follow on each other, which the audit is to see."""
    for before, after in pairwise(loaded):
        if (after["batch"], after["checkpoint"]) != (before["batch"] + 1, before["checkpoint"]):
            return None
    ranges: dict[str, dict[str, list[int]]] = {}
    for batch in loaded:
        for topic, partitions in batch["ranges"].items():
            for partition, (start, end) in partitions.items():
                whole = ranges.setdefault(topic, {}).setdefault(partition, [start, start])
                if whole[1] != start:
                    return None
                whole[1] = end
    sums = {name: sum(batch[name] for batch in loaded) for name in ("read", "rows", "dead")}
    return {**loaded[-1], "first": loaded[0]["first"], "ranges": ranges, **sums, "files": []}
