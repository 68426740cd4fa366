"""What `status` shows: a row for each node, on this machine or on hosts."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import dataclass, field
from typing import Any

from kcluster.errors import ExitCode
from kcluster.model.node import Kind
from kcluster.results import Block, Cell, Grid, Result, Tone, counted

_TONES = {
    "running": Tone.GOOD,
    "starting": Tone.WARN,
    "stopping": Tone.WARN,
    "restarting": Tone.BAD,
    "not answering": Tone.BAD,
    "not serving": Tone.BAD,
    "stopped": Tone.DIM,
    "missing": Tone.DIM,
    "crashed": Tone.BAD,
    "failed": Tone.BAD,
    "unreachable": Tone.BAD,
}


@dataclass(frozen=True)
class NodeStatus:
    """One node: its process, and what it is in the cluster."""

    node: str
    host: str
    kind: str
    id: int | None
    """None for Spark's, which have none."""
    address: str
    state: str
    role: str
    pid: int | None = None
    uptime_seconds: int | None = None
    memory_bytes: int | None = None
    restarts: int | None = None
    """How often systemd started it again by itself; None on this machine, where nobody does."""
    at_boot: bool | None = None
    """Whether it starts with its host."""
    restart_needed: bool | None = None
    """Whether only a restart makes it run with the files that lie on its host now."""
    wanted_address: str = ""
    """The address that the inventory has, when its process was started with another one."""


@dataclass(frozen=True)
class StatusProblem:
    """A host that could not be asked."""

    host: str
    message: str
    resolution: str
    details: str = ""


@dataclass(frozen=True)
class ClusterStatus(Result):
    """Every node of a cluster."""

    name: str
    release: str
    bootstrap: str
    directory: str
    """The folder of a cluster on this machine; empty for one on hosts."""
    nodes: tuple[NodeStatus, ...]
    next: str
    """What to do when not every node runs."""
    problems: tuple[StatusProblem, ...] = ()
    spark: str = ""
    """The version of Spark; empty without Spark."""
    features: Mapping[str, int] = field(default_factory=dict)
    """The finalized level of each feature; empty with ZooKeeper."""

    @property
    def exit_code(self) -> ExitCode:
        """UNREACHABLE when a host cannot be reached, NO unless every node runs."""
        if self.problems:
            return ExitCode.UNREACHABLE
        return ExitCode.DONE if all(node.state == "running" for node in self.nodes) else ExitCode.NO

    def view(self) -> Iterable[Block]:
        """A row for each node, the hosts that cannot be reached, then one line with the totals."""
        columns = ("NODE", "HOST", "ID", "ADDRESS", "STATE", "ROLE", "PID", "UPTIME", "MEMORY", "RESTARTS", "NOTE")
        yield Grid(columns, [_row(node) for node in self.nodes], wide=("ID", "ADDRESS", "PID", "MEMORY"))
        for problem in self.problems:
            yield Cell(f"{problem.host}: {problem.message}", Tone.BAD)
            yield from (f"  {line}" for line in problem.details.splitlines())
        remedies = dict.fromkeys(problem.resolution for problem in self.problems)
        yield from (f"  try: {remedy}" for remedy in remedies if remedy)
        yield f"bootstrap: {self.bootstrap}"
        if self.features:
            yield f"features: {', '.join(f'{name} {level}' for name, level in sorted(self.features.items()))}"
        running = sum(node.state == "running" for node in self.nodes)
        every = running == len(self.nodes)
        what = f"Kafka {self.release}{f' and Spark {self.spark}' if self.spark else ''}"
        yield Cell(
            f"{self.name}: {what}, {running} of {counted(len(self.nodes), 'node')} running",
            Tone.GOOD if every else Tone.BAD,
        )
        if not every and not self.problems:
            yield self.next


@dataclass(frozen=True)
class ClusterLine:
    """One local cluster among several."""

    name: str
    release: str
    running: int
    nodes: int
    bootstrap: str
    origin: str


@dataclass(frozen=True)
class ClusterList(Result):
    """All local clusters."""

    clusters: tuple[ClusterLine, ...]

    def data(self) -> Any:
        """A list."""
        return [vars(line) for line in self.clusters]

    def view(self) -> Iterable[Block]:
        """A row for each cluster."""
        yield Grid(
            ("CLUSTER", "KAFKA", "NODES", "BOOTSTRAP", "MADE FROM"),
            [(c.name, c.release, f"{c.running} of {c.nodes} running", c.bootstrap, c.origin) for c in self.clusters],
            wide=("MADE FROM",),
        )
        yield "show one cluster: kcluster status -n NAME"


def duration(seconds: int | None) -> str:
    """ "3 h 12 min" and the like: the two units that matter."""
    if seconds is None:
        return ""
    units = ((86400, "d"), (3600, "h"), (60, "min"), (1, "s"))
    parts: list[str] = []
    for size, unit in units:
        count, seconds = divmod(seconds, size)
        if count or (unit == "s" and not parts):
            parts.append(f"{count} {unit}")
    return " ".join(parts[:2])


def _row(node: NodeStatus) -> list[str | Cell]:
    return [
        node.node,
        node.host,
        "" if node.id is None else str(node.id),
        node.address,
        Cell(node.state, _TONES[node.state]),
        node.role,
        str(node.pid or ""),
        duration(node.uptime_seconds),
        f"{node.memory_bytes >> 20} MiB" if node.memory_bytes else "",
        Cell(str(node.restarts), Tone.WARN) if node.restarts else "",
        Cell(", ".join(_notes(node)), Tone.WARN),
    ]


def _notes(node: NodeStatus) -> Iterable[str]:
    if node.kind == Kind.SPARK_WORKER and node.state in ("starting", "not answering"):
        yield "not registered with a leading master"  # only that one shows whether it serves
    elif node.state == "starting" and node.restarts is not None:
        yield f"no answer at {node.address}"
    elif node.state == "not answering":
        yield f"listens and does not answer at {node.address}"
    if node.wanted_address:
        yield f"the inventory has port {node.wanted_address.rpartition(':')[2]}"
    if node.restart_needed:
        yield "restart needed"
    if node.at_boot is False:
        yield "not started at boot"
