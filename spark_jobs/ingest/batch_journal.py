"""The journal of batches: a JSON file for each batch, in the table's folder, later compacted to summaries.

A file has the offset ranges, the numbers of rows and dead letters, and for Parquet the files. The audit takes from it
which offsets were read, and counts the rest itself.
"""

from __future__ import annotations

from collections.abc import Iterator
from itertools import pairwise
from pathlib import PurePosixPath
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from spark_jobs.runtime.folder import Folder

JOB_FOLDER = "_kcluster"
"""The job's folder in the table."""
BATCHES, STAGED = f"{JOB_FOLDER}/batches", f"{JOB_FOLDER}/staged"
BATCHES_PER_SUMMARY = 100
"""Batches in one summary, so that weeks of batches are few files."""


def description_file(number: int) -> str:
    """The name of the journal file of a batch."""
    return f"{BATCHES}/{number:09d}.json"


def batches(folder: Folder) -> list[dict[str, Any]]:
    """The journal in order; an entry covers the batches `first` to `batch`: several when it is a summary."""
    files = _spans(folder)
    files_loaded = (folder.load(files[span]) for span in sorted(files, key=lambda one: (one[0], -one[1])))
    # A running job may compact at the same time: it writes the summary before it removes the single files.
    loaded = [batch for batch in files_loaded if batch is not None]
    return list(_outermost(loaded))


def last_batch(folder: Folder) -> int:
    """The newest batch in the journal; -1 when it is empty."""
    return max((last for _, last in _spans(folder)), default=-1)


def load_batch(folder: Folder, number: int) -> Any:
    """The entry of a batch, or the summary that ends with it; None without one."""
    return next((folder.load(name) for (_, last), name in _spans(folder).items() if last == number), None)


def compact(folder: Folder, number: int) -> None:
    """Before every hundredth batch, replace the entries of the batches before by one summary.

    The summary is written first, and counts where a run was interrupted before it removed the single files.
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
    """First and last batch of each entry -> its file."""
    names = [name for name in folder.files(BATCHES) if name.endswith(".json")]
    stems = (PurePosixPath(name).stem.split("-") for name in names)
    return {(int(stem[0]), int(stem[-1])): name for stem, name in zip(stems, names, strict=True)}


def _outermost(loaded: list[dict[str, Any]]) -> Iterator[dict[str, Any]]:
    """The entries without those that a summary before them covers."""
    done = -1
    for batch in loaded:
        if batch["batch"] > done:
            done = batch["batch"]
            yield batch


def _summary(loaded: list[dict[str, Any]]) -> dict[str, Any] | None:
    """Several entries as one; None when batches or offsets are not consecutive, which the audit must see."""
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
