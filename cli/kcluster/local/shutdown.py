"""Stopping nodes of a local cluster: brokers first, then the metadata quorum; only processes that `up` started."""

from __future__ import annotations

import signal
from collections.abc import Callable, Iterable
from pathlib import Path

from kcluster.clients import processes
from kcluster.local import class_archives
from kcluster.local.cluster_record import ClusterRecord
from kcluster.model.node import Kind
from kcluster.results import Progress

PATIENCE = 60.0
"""Seconds for an orderly stop of a node; then it is killed."""


def stop(
    record: ClusterRecord,
    names: Iterable[str],
    progress: Progress,
    remember: Callable[[ClusterRecord], None],
    *,
    patience: float = PATIENCE,
    orderly: bool = True,
) -> ClusterRecord:
    """Stop the named nodes, waiting up to `patience` for each kind, and return the record without them.

    `orderly` is False for nodes that never served: their class archives are dropped. `remember` saves each record.
    """
    nodes = list(names)
    brokers = [name for name in nodes if name.startswith(Kind.BROKER)]
    for group in (brokers, [name for name in nodes if name not in brokers]):
        _end(record, group, progress, patience)
        for name in group:
            _complete_archive(record.started[name].archive, orderly)
            record = record.without(name)
        remember(record)
    return record


def _end(record: ClusterRecord, names: Iterable[str], progress: Progress, patience: float) -> None:
    by_process = {record.started[name].process: name for name in names}
    for process in by_process:
        processes.end(process)
    for process in processes.left_after(by_process, patience):
        progress(f"{by_process[process]} did not stop within {patience:.0f} s: killing pid {process.pid}")
        processes.end(process, signal.SIGKILL)
    processes.left_after(by_process, patience)


def _complete_archive(path: str, orderly: bool) -> None:
    """Keep the class archive that a node wrote when it stopped; drop that of a failed start."""
    if path and orderly:
        class_archives.complete(Path(path))
    elif path:
        Path(path).unlink(missing_ok=True)
