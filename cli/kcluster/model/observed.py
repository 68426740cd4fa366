"""What was found on the hosts: the other half of a plan."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from kcluster.model.running import Recovery


@dataclass(frozen=True)
class ObservedFile:
    """A file as it is on its host."""

    text: str
    attributes: str
    """Owner, group and mode: "root:kafka 0640"."""


@dataclass(frozen=True)
class ObservedDirectory:
    """A data directory as it is on its host."""

    attributes: str
    """Owner, group and mode: "kafka:kafka 0750"."""
    mount: str
    """The mount point it lies on."""
    filesystem: str
    free_bytes: int
    total_bytes: int
    empty: bool
    meta: Mapping[str, str] = field(default_factory=dict)
    """What `meta.properties` in it says; nothing when there is none."""
    myid: str = ""
    """What `myid` in it says; nothing when there is none."""
    metadata: bool = False
    """Whether a KRaft node keeps the cluster's metadata in it."""
    written: bool = False
    """Whether a ZooKeeper server or a KRaft node has written something of the cluster's metadata into it."""


@dataclass(frozen=True)
class ObservedUnit:
    """A systemd unit and its process."""

    state: str
    """systemd's ActiveState: "active", "activating", "inactive", "failed"; "missing" when there is no such unit."""
    enabled: bool = False
    pid: int | None = None
    uptime_seconds: float | None = None
    memory_bytes: int | None = None
    restarts: int = 0
    listening: tuple[str, ...] = ()
    """Where its process listens: "10.0.0.1:9092", "[::]:9092" for every address."""

    @property
    def running(self) -> bool:
        """Whether it has a process."""
        return self.pid is not None


@dataclass(frozen=True)
class ObservedNode:
    """One node as it is on its host."""

    unit: ObservedUnit
    files: Mapping[str, ObservedFile] = field(default_factory=dict)
    """The files of the node that are there, by path."""
    started_with: Mapping[str, str] = field(default_factory=dict)
    """The text of each file when the running process started, by path; nothing when it does not run."""
    started_release: str = ""
    """The release directory the running process started from: "kafka_2.13-3.9.2"."""
    link: str = ""
    """The release directory that its unit starts; nothing where there is no link."""
    recovery: Recovery | None = None
    """How far its process has come; None while there is none, or when it listens at the port of the inventory."""
    directories: Mapping[str, ObservedDirectory] = field(default_factory=dict)
    """The data directories that are there, by path."""
    overrides: Mapping[str, str] | None = field(default_factory=dict)
    """Settings that the broker was given over the wire: they outrank its file. Hosts do not know them, Kafka does;
    None where it could not be asked."""


@dataclass(frozen=True)
class Preparation:
    """What the role `host` would change, as its own code says."""

    changes: tuple[tuple[str, str, str], ...] = ()
    """A thing, how it is (nothing where it is not there), and how it shall be."""
    files: tuple[tuple[str, bool], ...] = ()
    """The path of a file, and whether there is one."""
    refused: str = ""
    """Why it would not begin."""


@dataclass(frozen=True)
class ObservedHost:
    """A host as it was found."""

    name: str
    os: str = ""
    python: str = ""
    java: str = ""
    """The full version of the Java the units would use; nothing when there is none."""
    memory_bytes: int = 0
    preparation: Preparation = Preparation()
    releases: tuple[str, ...] = ()
    """The release directories that are complete."""
    current: str = ""
    """The release directory that was installed last."""
    nodes: Mapping[str, ObservedNode] = field(default_factory=dict)
    """By the node's name."""
