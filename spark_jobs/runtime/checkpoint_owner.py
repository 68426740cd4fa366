"""Whose a checkpoint is: noted in it when a job starts, on any file system, so that no other job goes on with it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from spark_jobs.runtime import batch_offsets
from spark_jobs.runtime.error_causes import RefusedJobError

if TYPE_CHECKING:
    from spark_jobs.runtime.folder import Folder

FILE = "kcluster.json"
TOPICS = "topic_ids"
"""The ids of the topics that are read: a topic that was deleted and created again has another."""
READ_KEYS = ("topics", "cluster_id", TOPICS)
"""What says which records are read."""

RESOLUTION = "give this job another --name, or another checkpoint and sink in its file"


def claim(checkpoint: Folder, identity: Mapping[str, Any]) -> None:
    """Make the checkpoint this job's, unless another job has read with it.

    Kcluster has asked the same before where it can: of a folder of its machine.
    """
    if not identity:
        return
    owner = checkpoint.load(FILE)
    if batch_offsets.last_planned(checkpoint) >= 0:
        _require_same_job(checkpoint, owner or identity, identity)  # older versions noted nothing on other file systems
    elif owner and any(owner.get(key, identity[key]) != identity[key] for key in READ_KEYS):
        checkpoint.remove("sources")  # where it would have begun in the topics of before
    if owner != identity:
        checkpoint.save(FILE, identity)


def recreated_topics(owner: Mapping[str, Any], now: Mapping[str, str]) -> Iterator[str]:
    """Topics that are others now than those that the owner read, as far as somebody noted their ids."""
    before = owner.get(TOPICS, {})
    for name in now:
        if before.get(name, now[name]) != now[name]:
            yield f"{name} was deleted and created again since this job read it, so its offsets mean other records"


def _require_same_job(checkpoint: Folder, owner: Mapping[str, Any], identity: Mapping[str, Any]) -> None:
    for key, value in identity.items():
        if key != TOPICS and owner.get(key) != value:
            difference = f"{key.replace('_', ' ')} is {owner.get(key)} there, and {value} here"
            raise RefusedJobError(f"the checkpoint {checkpoint.path} belongs to another job: {difference}", RESOLUTION)
    for problem in recreated_topics(owner, identity[TOPICS]):
        raise RefusedJobError(problem, RESOLUTION)
