"""What no stage can make safe: brokers that lose each other, other voters, empty majorities. Pure."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence

from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Ensemble
from kcluster.model.node import Node
from kcluster.model.quorum import Quorum
from kcluster.model.reason import Reason
from kcluster.model.running import Running
from kcluster.plan.steps import Refusal
from kcluster.stages import logins
from kcluster.stages.controllers import voters_of


def refusals(
    running: Running,
    wanted: Cluster,
    stage: Cluster,
    blank: Collection[str],
    others: Sequence[Reason],
    alive: Mapping[str, str],
) -> tuple[Refusal, ...]:
    """Why the way to the wanted cluster must not be taken.

    `blank` has the names of the nodes of the metadata quorum without data and without process, `others` why the rest
    of the quorum is not complete and in sync, `alive` the servers that the stage takes out and that still run, with
    their hosts.
    """
    if alive:
        return tuple(
            Refusal(
                f"{name} leaves the ensemble and still runs at {host}: servers that know it and servers that do not "
                "could elect no leader",
                f"stop it first: ssh {host} sudo systemctl disable --now zookeeper; then run it again",
            )
            for name, host in alive.items()
        )
    if apart := tuple(logins.refusals(running, stage)):
        return apart
    voters = list(_other_voters(running, wanted))
    empty = [node for node in stage.metadata.nodes if node.name in blank]
    if voters or not empty or not any(node.name in running.settings for node in stage.metadata.nodes):
        return tuple(voters)
    return tuple(_empty(stage, empty, others))


def _other_voters(running: Running, wanted: Cluster) -> Iterator[Refusal]:
    if not isinstance(wanted.metadata, Quorum):
        return
    goal = {each.id for each in wanted.metadata.controllers}
    for node in wanted.nodes:
        voters = set(voters_of(running.settings.get(node.name, {})))
        if voters and voters != goal:
            yield Refusal(
                f"{node.name} on {node.host.name} has the controllers {_ids(voters)}, the inventory {_ids(goal)}: "
                "static voters cannot change safely, as each node counts majorities by its own list",
                f"set the group kafka_controller back to {_ids(voters)}; for more controllers build a new cluster, and "
                "mirror the topics",
            )
            return


def _empty(stage: Cluster, empty: Sequence[Node], others: Sequence[Reason]) -> Iterator[Refusal]:
    """An empty node may only join when those with data are complete: else it could outvote what it does not know."""
    nodes = stage.metadata.nodes
    what = "ZooKeeper servers" if isinstance(stage.metadata, Ensemble) else "controllers"
    names = ", ".join(f"{node.name} on {node.host.name}" for node in empty)
    if len(empty) > len(nodes) // 2:
        yield Refusal(
            f"{len(empty)} of {len(nodes)} {what} have no data ({names}): they would be a majority that knows nothing "
            "of the cluster, and its metadata would be lost",
            "put their data directories back, from the old disks or a backup; nothing else keeps the metadata",
        )
    elif others:
        yield Refusal(
            f"{names} has no data, and may only join when all other {what} serve and are in sync: {others[0].text}",
            "start the others first: kcluster start -i INV NODE, then run it again",
        )


def _ids(numbers: Collection[int]) -> str:
    return ", ".join(map(str, sorted(numbers)))
