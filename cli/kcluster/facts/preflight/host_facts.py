"""What the hosts told: one frozen fact sheet for each, made of the JSON of the scripts."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any


@dataclass(frozen=True)
class JavaFacts:
    """The Java that a unit would start."""

    program: str
    version: str


@dataclass(frozen=True)
class DirectoryFacts:
    """A data directory, or where it will be."""

    exists: bool = False
    nearest: str = "/var/lib"
    """The directory itself, or the nearest one above it that is there."""
    owner: int | None = None
    mount: str = "/"
    filesystem: str = "ext4"
    unmounted: str = ""
    """A mount point at or above it that fstab or a unit promises and that is not mounted."""
    read_only: bool = False
    free: int = 100 << 30
    total: int = 200 << 30
    free_inodes: int = 1_000_000
    inodes: int = 2_000_000
    entries: tuple[str, ...] = ()
    no_partitions: tuple[str, ...] = ()
    """The directories among the entries with which no broker starts."""
    meta: Mapping[str, str] = field(default_factory=dict)
    """What `meta.properties` in it says."""
    myid: str = ""


@dataclass(frozen=True)
class LogDiskFacts:
    """How long small synced writes took on the disk of a directory, in milliseconds, sorted."""

    place: str | None = "/var/lib"
    times: tuple[float, ...] = (1.0,)
    problem: str = ""


@dataclass(frozen=True)
class PortUser:
    """Who listens on a port."""

    pid: int | None = None
    program: str = ""
    unit: str = ""


@dataclass(frozen=True)
class HostFacts:
    """Everything one host said of itself."""

    python: str = "3.11.2"
    os: Mapping[str, str] = field(default_factory=dict)
    """The fields of /etc/os-release."""
    systemd: bool = True
    root: bool = True
    startup: float | None = 0.1
    """Seconds from sshd's start of the shell to the script; None when no sshd started it."""
    java: Mapping[str, JavaFacts | None] = field(default_factory=dict)
    """By the JAVA_HOME that a unit is given; empty when it is given none."""
    memory: int = 64 << 30
    swaps: tuple[str, ...] = ()
    kernel: Mapping[str, str] = field(default_factory=dict)
    """By the path under /proc/sys; empty where there is no such setting."""
    huge_pages: str = ""
    directories: Mapping[str, DirectoryFacts] = field(default_factory=dict)
    journals: Mapping[str, LogDiskFacts] = field(default_factory=dict)
    units: Mapping[str, str] = field(default_factory=dict)
    """The description in each unit file; empty where there is no such file."""
    ports: Mapping[int, PortUser] = field(default_factory=dict)
    """The ports of the cluster's nodes that somebody listens on."""
    addresses: tuple[str, ...] = ()
    accounts: Mapping[str, int | None] = field(default_factory=dict)
    """The number of each service account; None when it is not there yet."""
    begun: float = 0.0
    ended: float = 0.0


@dataclass(frozen=True)
class NetworkFacts:
    """What one host found at the doors of the others."""

    begun: float = 0.0
    ended: float = 0.0
    own_names: Mapping[str, tuple[str, ...]] = field(default_factory=dict)
    """The addresses of the names under which the others know this host, as it sees them itself."""
    unopened: Mapping[int, str] = field(default_factory=dict)
    """Why a port that is free could not be opened for the test."""
    starting: frozenset[int] = frozenset()
    """The ports that were left alone, because their unit runs or is about to and opens them itself."""
    knocks: Mapping[tuple[str, int], str] = field(default_factory=dict)
    """Why the door did not open; empty when it did."""


@dataclass(frozen=True)
class ClockSkew:
    """How far a host's clock is from that of the control node: somewhere between these, in seconds."""

    low: float
    high: float

    @property
    def middle(self) -> float:
        """The best guess."""
        return (self.low + self.high) / 2

    def narrowed(self, other: ClockSkew) -> ClockSkew:
        """What two questions together tell."""
        return ClockSkew(max(self.low, other.low), min(self.high, other.high))


def host(told: Mapping[str, Any]) -> HostFacts:
    """The fact sheet of a host, from what `preflight_host.py` printed."""
    return HostFacts(
        **{key: told[key] for key in ("python", "os", "systemd", "root", "startup", "memory", "kernel", "accounts")},
        java={home: JavaFacts(**found) if found else None for home, found in told["java"].items()},
        swaps=tuple(told["swaps"]),
        huge_pages=next(iter(told["huge_pages"]), ""),
        directories={
            path: DirectoryFacts(**{**found, **{key: tuple(found[key]) for key in ("entries", "no_partitions")}})
            for path, found in told["directories"].items()
        },
        journals={
            path: LogDiskFacts(**{**found, "times": tuple(found["times"])}) for path, found in told["journals"].items()
        },
        units=told["units"],
        ports={int(port): PortUser(**found) for port, found in told["ports"].items()},
        addresses=tuple(told["addresses"]),
        begun=told["begun"],
        ended=told["ended"],
    )


def network(told: Mapping[str, Any]) -> NetworkFacts:
    """What `preflight_network.py` printed."""
    return NetworkFacts(
        begun=told["begun"],
        ended=told["ended"],
        own_names={name: tuple(found) for name, found in told["own_names"].items()},
        unopened={int(port): why for port, why in told["unopened"].items()},
        starting=frozenset(told["starting"]),
        knocks={(name, port): why for name, port, why in told["knocks"]},
    )


def skew(asked: float, begun: float, ended: float, answered: float) -> ClockSkew:
    """What one question tells: the host began after it was asked, and ended before its answer came."""
    return ClockSkew(ended - answered, begun - asked)
