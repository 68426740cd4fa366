"""The way from what runs to what is wanted: whole clusters of which each two neighbours work in any mixture. Pure."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

from kcluster.config import properties
from kcluster.model.cluster import Cluster
from kcluster.model.running import ProcessState, Running
from kcluster.stages import controllers, ensemble, listeners, release
from kcluster.stages.stage_change import StageChange

__all__ = ["Stage", "after", "stages"]

Transition = Callable[[Running, Cluster], StageChange]
"""The next step of one kind of change; it looks at what runs and remembers nothing, so that any run goes on."""

_TRANSITIONS: tuple[Transition, ...] = (release.step, ensemble.step, controllers.step, listeners.step)
_MOST = 100


@dataclass(frozen=True)
class Stage:
    """One safe state on the way; all nodes are brought to it, and verified, before the next one begins."""

    title: str
    """What it does: "open REPLICATION"; empty when one pass does everything."""
    cluster: Cluster


def stages(running: Running, wanted: Cluster) -> tuple[Stage, ...]:
    """The states from what runs to the wanted cluster, which is the last; changes of different kinds go in parallel."""
    found = []
    for _ in range(_MOST):
        steps = [transition(running, wanted) for transition in _TRANSITIONS]
        cluster = wanted
        for step in steps:
            cluster = step.edit(cluster)
        found.append(Stage("; ".join(step.title for step in steps if step.title), cluster))
        if all(step.last for step in steps):
            return tuple(found)
        running = after(cluster)
    raise AssertionError(f"no way to the wanted cluster: {[stage.title for stage in found]}")


def after(stage: Cluster) -> Running:
    """What runs when a stage is done: every node with the properties of the stage."""
    nodes = stage.nodes
    return Running(
        stage,
        dict.fromkeys((node.name for node in nodes), ProcessState.LISTENING),
        releases=dict.fromkeys((node.name for node in nodes), stage.release.directory),
        settings={node.name: {each.key: each.value for each in properties.settings(stage, node)} for node in nodes},
    )
