"""Another release: every node starts it at its turn (the link of its unit), so that any mixture of two patches runs."""

from __future__ import annotations

from kcluster.model.cluster import Cluster
from kcluster.model.running import Running
from kcluster.stages.stage_change import StageChange


def step(running: Running, wanted: Cluster) -> StageChange:
    """The one step of a release: it goes with the first stage."""
    goal = wanted.release.directory
    before = {running.releases.get(node.name, goal) for node in wanted.nodes if running.runs(node)} - {goal}
    return StageChange(f"nodes start {goal} in place of {', '.join(sorted(before))}" if before else "")
