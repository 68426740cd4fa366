"""`ok-to-stop`: whether nodes may stop together now, and what else may stop with them; it reads only."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from typing import TYPE_CHECKING, Any

from kcluster.clients.ssh import Connections
from kcluster.errors import ExitCode, UsageError
from kcluster.model import reason
from kcluster.model.broker import Broker
from kcluster.model.finding import some
from kcluster.results import Block, Cell, Result, Tone, counted
from kcluster.rollout.gates import Gates
from kcluster.rollout.node_selection import installed, select_nodes

if TYPE_CHECKING:
    from kcluster.clients.ssh import Login
    from kcluster.model.cluster import Cluster
    from kcluster.model.node import Node
    from kcluster.model.reason import Reason


@dataclass(frozen=True)
class StopVerdict(Result):
    """Whether nodes may stop together now."""

    name: str
    nodes: tuple[str, ...]
    """Those that were asked about."""
    reasons: tuple[Reason, ...]
    """Why they may not."""
    unit: str
    """What the safe set consists of: "host" or "node"."""
    safe_set: tuple[str, ...]
    """What may stop together, with that which was asked about: no other can be added. Empty when they may not stop."""

    @property
    def ok(self) -> bool:
        """Whether they may."""
        return not self.reasons

    @property
    def exit_code(self) -> ExitCode:
        """NO when they may not."""
        return ExitCode.DONE if self.ok else ExitCode.NO

    def data(self) -> Any:
        """The verdict and every reason with all of its partitions."""
        reasons = [{"text": why.text, "partitions": why.partitions, "remedy": why.remedy} for why in self.reasons]
        return {**asdict(self), "reasons": reasons, "ok": self.ok}

    def view(self) -> Iterable[Block]:
        """The reasons, or the safe set; the verdict last."""
        if self.reasons:
            yield from reason.details(self.reasons)
            yield from (f"  try: {why.remedy}" for why in reason.joined(self.reasons) if why.remedy)
            yield Cell(f"{self.name}: {some(self.nodes)} may not stop now", Tone.BAD)
            return
        yield f"safe to stop together: {', '.join(self.safe_set)} ({counted(len(self.safe_set), self.unit)})"
        yield Cell(f"{self.name}: {some(self.nodes)} may stop now", Tone.GOOD)


def ok_to_stop(
    cluster: Cluster,
    client_config: Mapping[str, str],
    logins: Mapping[str, Login],
    names: Sequence[str],
    *,
    most: int | None,
) -> StopVerdict:
    """Judge whether the nodes of these names may stop together now, and grow that set up to `most` hosts or nodes.

    When every name is a host the set grows by whole hosts, else by nodes of the same kinds; never by nodes of Spark,
    which nothing judges. UsageError for an unknown name or more names than `most`.
    """
    select_nodes(cluster, names)  # an unknown name is refused before anything is asked
    with Connections(logins) as hosts:
        return judged(Gates(cluster, client_config, hosts=hosts), names, hosts, most)


def judged(gates: Gates, names: Sequence[str], hosts: Connections, most: int | None) -> StopVerdict:
    """The same, through gates; RefusedError when a named node is not installed."""
    cluster = gates.cluster
    nodes = select_nodes(cluster, names)
    by_host = set(names) <= {host.name for host in cluster.every_host}
    named = tuple(dict.fromkeys(node.host.name if by_host else node.name for node in nodes))
    if most is not None and most < len(named):
        unit = counted(len(named), "host" if by_host else "node")
        raise UsageError(f"--max {most} is less than what is named: {unit}", resolution=f"--max {len(named)}, or none")
    installed(cluster, nodes, hosts)
    others = _others(cluster, nodes, by_host=by_host)
    snapshot = gates.snapshot(nodes, [node for group in others for node in group])
    reasons = (*snapshot.hopeless(nodes), *snapshot.reasons(nodes))
    added = [] if reasons else snapshot.grown(nodes, others, most and most - len(named))
    more = tuple(group[0].host.name if by_host else group[0].name for group in added)
    return StopVerdict(
        name=cluster.name,
        nodes=tuple(node.name for node in nodes),
        reasons=reasons,
        unit="host" if by_host else "node",
        safe_set=() if reasons else (*named, *more),
    )


def _others(cluster: Cluster, nodes: Sequence[Node], *, by_host: bool) -> list[Sequence[Node]]:
    """What may be added, a host or a node at a time: those in the racks of the nodes first."""
    kinds, named = {node.kind for node in nodes}, {node.name for node in nodes}
    groups: list[Sequence[Node]] = [[node] for node in cluster.nodes if node.kind in kinds]
    if by_host:
        groups = [cluster.find(host.name) for host in cluster.hosts]
    left_out = named | {node.name for node in cluster.every_node} - {node.name for node in cluster.nodes}
    groups = [group for group in groups if not left_out & {node.name for node in group}]
    return sorted(groups, key=lambda group: not _racks(group) & _racks(nodes))


def _racks(nodes: Iterable[Node]) -> set[str]:
    return {node.rack for node in nodes if isinstance(node, Broker)}
