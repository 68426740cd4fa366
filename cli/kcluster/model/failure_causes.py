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
    here: str
    """What to do when the node belongs to a local cluster."""
    on_host: str
    """What to do when it runs on a host of its own."""
    passes: bool = False
    """Whether it goes by itself, so that the unit's next attempt may succeed."""


PORT_IN_USE = Cause(
    r"BindException|Address already in use|Socket server failed to bind",
    "a port it needs is in use",
    "end the process that holds the port, then `kcluster up`",
    "end the process that holds the port (ss -ltnp), or give the node another port in the inventory",
)
STILL_REGISTERED = Cause(
    r"KeeperErrorCode = NodeExists",
    "ZooKeeper still knows it from before it was killed",
    "wait half a minute, then `kcluster up`; or another broker has the same id",
    "wait half a minute: systemd tries again; or another broker has the same kafka_broker_id",
    passes=True,
)
"""It goes by itself: ZooKeeper forgets a killed broker when its session ends."""

KNOWN = (
    PORT_IN_USE,
    STILL_REGISTERED,
    Cause(
        r"No space left on device",
        "the disk is full",
        "make room, then `kcluster up`; see `df -h`",
        "make room on the host (df -h), then `kcluster start -i INV`",
    ),
    Cause(
        r"OutOfMemoryError|Could not reserve enough space|Cannot allocate memory|insufficient memory",
        "there is not enough memory",
        "give it more with kafka_heap or zookeeper_heap, or free memory of this machine",
        "change kafka_heap, zookeeper_heap or spark_heap, or free memory of the host, then `kcluster provision -i INV`",
    ),
    Cause(
        r"UnsupportedClassVersionError",
        "Java is too old for this release",
        "sudo apt install default-jre-headless",
        "install Java 17 on the host, or set kafka_install_java: true, then `kcluster provision -i INV`",
    ),
    Cause(
        r"InconsistentClusterId|Invalid cluster\.id|cluster ID .* doesn't match",
        "its data belongs to another cluster (the cluster ids differ)",
        "`kcluster down --delete-data` and up again, or bring back the data of the ZooKeeper it was made with",
        "the host holds another cluster's data: is it the right one? Move the data away, or correct the inventory",
    ),
    Cause(
        r"Failed to acquire lock on file|OverlappingFileLockException",
        "another process uses its data directory",
        "end that process, then `kcluster up`",
        "end that process on the host, then `kcluster start -i INV`",
    ),
    Cause(
        r"InconsistentBrokerId|Configured broker\.id .* doesn't match|Stored node id",
        "its data belongs to a node with another id",
        "give it back the id it had, or `kcluster down --delete-data`",
        "give it back the id it had in the inventory, then `kcluster provision -i INV`",
    ),
    Cause(
        r"ConfigException|Invalid value .* for configuration|Missing required configuration|requirement failed",
        "a setting is refused",
        "correct the setting named above, then `kcluster up`",
        "correct the setting in the inventory, then `kcluster provision -i INV`, which also undoes changes by hand",
    ),
    Cause(
        r"Unrecognized VM option|Could not create the Java Virtual Machine|Invalid maximum heap size",
        "the JVM refuses an option",
        "correct the heap or the environment of the node, then `kcluster up`",
        "correct the heap or the environment of the node in the inventory, then `kcluster provision -i INV`",
    ),
    Cause(
        r"Timed out waiting for connection while in state|ZooKeeperClientTimeoutException|no ZooKeeper server serves: ",
        "it could not reach ZooKeeper",
        "kcluster logs, to see why the ZooKeeper servers do not answer",
        "see whether the ZooKeeper servers run (kcluster status) and whether the host reaches their ports",
        passes=True,
    ),
    Cause(
        r"All masters are unresponsive",
        "it reached no Spark master that leads",
        "start the masters, then the worker",
        "see whether a master leads (kcluster status) and whether the host reaches its port (kcluster check)",
        passes=True,
    ),
)


def cause_of(lines: Sequence[str]) -> tuple[Cause, str] | None:
    """The first known cause in the log, and the line that tells it."""
    for line in lines:
        for cause in KNOWN:
            if re.search(cause.sign, line):
                return cause, line.strip()
    return None
