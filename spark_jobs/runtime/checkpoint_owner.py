"""The owner of a checkpoint: a file in it, on any file system, so that no other job continues from it."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, Any

from spark_jobs.runtime import batch_offsets
from spark_jobs.runtime.error_causes import RefusedJobError

if TYPE_CHECKING:
    from spark_jobs.runtime.folder import Folder

FILE = "kcluster.json"
TOPICS = "topic_ids"
"""The ids of the topics that are read: a topic that was deleted and created again has a new id."""
READ_KEYS = ("topics", "cluster_id", TOPICS)
"""The keys that decide which records are read."""

RESOLUTION = "give this job another --name, or another checkpoint and sink in its file"


def claim(checkpoint: Folder, identity: Mapping[str, Any], done: int = -1) -> None:
    """Write this job into the checkpoint as its owner; refused when another job has read with it, or it is damaged.

    `identity` is empty without kcluster: then no owner is checked. For folders of its own machine kcluster has checked
    the same before. `done` is the newest batch with output: what a power cut left of later ones is removed.
    """
    if identity:
        _claim(checkpoint, identity)
    batch_offsets.drop_empty(checkpoint, done)
    batch_offsets.last_planned(checkpoint)


def _claim(checkpoint: Folder, identity: Mapping[str, Any]) -> None:
    owner = checkpoint.load(FILE)
    if checkpoint.files("offsets"):
        _require_same_job(
            checkpoint, owner or identity, identity
        )  # older versions wrote no owner on other file systems
    elif owner and any(owner.get(key, identity[key]) != identity[key] for key in READ_KEYS):
        checkpoint.remove("sources")  # the start offsets of other topics
    if owner != identity:
        checkpoint.save(FILE, identity)


def recreated_topics(owner: Mapping[str, Any], now: Mapping[str, str]) -> Iterator[str]:
    """A problem for each topic whose id differs from the one that the owner read; topics without a recorded id pass."""
    before = owner.get(TOPICS, {})
    for name in now:
        if before.get(name, now[name]) != now[name]:
            yield f"topic {name} was deleted and created again since this job read it: its offsets are not valid"


def _require_same_job(checkpoint: Folder, owner: Mapping[str, Any], identity: Mapping[str, Any]) -> None:
    for key, value in identity.items():
        if key != TOPICS and owner.get(key) != value:
            difference = f"{key.replace('_', ' ')} is {owner.get(key)} in the checkpoint, {value} in this job"
            raise RefusedJobError(f"the checkpoint {checkpoint.path} belongs to another job: {difference}", RESOLUTION)
    for problem in recreated_topics(owner, identity[TOPICS]):
        raise RefusedJobError(problem, RESOLUTION)
