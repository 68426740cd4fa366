"""What the last log lines of a node that died say about the cause, and what to do about it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass


@dataclass(frozen=True)
class Cause:
    """A known cause of a failed start."""

    sign: str
    """A regular expression; it matches the cause's line in the log."""
    text: str
    resolution: str


PORT_IN_USE = Cause(
    r"BindException|Address already in use|Socket server failed to bind",
    "a port it needs is in use",
    "end the process that holds the port, then `kcluster up`",
)
STILL_REGISTERED = Cause(
    r"KeeperErrorCode = NodeExists",
    "ZooKeeper still knows it from before it was killed",
    "wait half a minute, then `kcluster up`; or another broker has the same id",
)
"""It goes by itself: ZooKeeper forgets a killed broker when its session ends."""

KNOWN = (
    PORT_IN_USE,
    STILL_REGISTERED,
    Cause(r"No space left on device", "the disk is full", "make room, then `kcluster up`; see `df -h`"),
    Cause(
        r"OutOfMemoryError|Could not reserve enough space|Cannot allocate memory|insufficient memory",
        "there is not enough memory",
        "give it more with kafka_heap or zookeeper_heap, or free memory of this machine",
    ),
    Cause(
        r"UnsupportedClassVersionError",
        "Java is too old for this release",
        "sudo apt install openjdk-17-jre-headless",
    ),
    Cause(
        r"InconsistentClusterId|Invalid cluster\.id|cluster ID .* doesn't match",
        "its data belongs to another cluster (the cluster ids differ)",
        "`kcluster down --delete-data` and up again, or bring back the data of the ZooKeeper it was made with",
    ),
    Cause(
        r"Failed to acquire lock on file|OverlappingFileLockException",
        "another process uses its data directory",
        "end that process, then `kcluster up`",
    ),
    Cause(
        r"InconsistentBrokerId|Configured broker\.id .* doesn't match|Stored node id",
        "its data belongs to a node with another id",
        "give it back the id it had, or `kcluster down --delete-data`",
    ),
    Cause(
        r"ConfigException|Invalid value .* for configuration|Missing required configuration|requirement failed",
        "a setting is refused",
        "correct the setting named above, then `kcluster up`",
    ),
    Cause(
        r"Unrecognized VM option|Could not create the Java Virtual Machine|Invalid maximum heap size",
        "the JVM refuses an option",
        "correct the heap or the environment of the node, then `kcluster up`",
    ),
    Cause(
        r"Timed out waiting for connection while in state|ZooKeeperClientTimeoutException",
        "it could not reach ZooKeeper",
        "kcluster logs, to see why the ZooKeeper servers do not answer",
    ),
)


def cause_of(lines: Sequence[str]) -> tuple[Cause, str] | None:
    """The first known cause in the log, and the line that tells it."""
    for line in lines:
        for cause in KNOWN:
            if re.search(cause.sign, line):
                return cause, line.strip()
    return None
