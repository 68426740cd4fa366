"""Known causes of failed starts: their log lines, and the fix for each."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Cause:
    """A known cause of a failed start; in its texts `{0}` is the first group of the pattern."""

    pattern: str
    """A regular expression for the cause's line in the log."""
    text: str
    local_fix: str
    """The fix for a node of a local cluster."""
    host_fix: str
    """The fix for a node on a host."""
    passes: bool = False
    """Whether the cause is transient, so that systemd's next attempt may succeed."""


PORT_IN_USE = Cause(
    r"BindException|Address already in use|Socket server failed to bind",
    "a port it needs is in use",
    "end the process on the port, then `kcluster up`",
    "end the process on the port (ss -ltnp), or give the node another port in the inventory",
)
STILL_REGISTERED = Cause(
    r"KeeperErrorCode = NodeExists",
    "it is still registered in ZooKeeper from its last run",
    "wait 30 s, then: kcluster up; or give it another id, if another broker has the same",
    "wait 30 s: systemd tries again; or correct kafka_broker_id, if another broker has the same",
    passes=True,
)
"""Transient: the registration of a killed broker expires with its session."""

KNOWN = (
    PORT_IN_USE,
    STILL_REGISTERED,
    Cause(
        r"No space left on device",
        "the disk is full",
        "free disk space (df -h), then `kcluster up`",
        "free disk space on the host (df -h), then `kcluster start -i INV`",
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
        "check that this is the right host: move the data of the other cluster away, or correct the inventory",
    ),
    Cause(
        r"Failed to acquire lock on file|OverlappingFileLockException",
        "another process uses its data directory",
        "end that process, then `kcluster up`",
        "end that process on the host, then `kcluster start -i INV`",
    ),
    Cause(
        r"Found directory (\S+), .* is not in the form of topic-partition",
        "{0} is no partition, and Kafka starts with nothing else in its data directories",
        "look what is in it, and move it away, then `kcluster up`",
        "look what is in it, and move it away on the host, then `kcluster start -i INV`",
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
        "check the ZooKeeper servers: kcluster logs",
        "check that the ZooKeeper servers run (kcluster status) and that the host can reach their ports",
        passes=True,
    ),
    Cause(
        r"All masters are unresponsive",
        "it reached no Spark master that leads",
        "start the masters, then the worker",
        "check that a master leads (kcluster status) and that the host can reach its port (kcluster check)",
        passes=True,
    ),
)


def cause_of(lines: Sequence[str]) -> tuple[Cause, str] | None:
    """The first known cause in the log, with what its line names, and the line; None when there is none."""
    for line in lines:
        for cause in KNOWN:
            if match := re.search(cause.pattern, line):
                groups = match.groups()
                return replace(cause, text=cause.text.format(*groups)) if groups else cause, line.strip()
    return None
