"""For the action `node`: whether one pass of a playbook can make a change, or whether it takes several stages."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from typing import Any

from kcluster.ansible_api.node_request import NodeRequest
from kcluster.errors import RefusedError
from kcluster.model.cluster import Cluster
from kcluster.model.running import ProcessState, Running
from kcluster.plan import file_diff
from kcluster.render import Role
from kcluster.stages import logins, stages


def refuse_stages(cluster: Cluster, nodes: Iterable[NodeRequest], kept: Mapping[str, Any]) -> None:
    """RefusedError where a change takes several stages, or cannot be made, as far as the processes of one host tell.

    `kept` has what these were started with where it is not what is wanted, as the module answers.
    """
    settings = {}
    for node in (node for node in nodes if node.name in kept):
        config = next(file for file in node.files if file.role is Role.CONFIG)
        text = kept[node.name]["files"].get(config.path, config.text)
        settings[node.name] = file_diff.settings(Role.CONFIG, text or "")
    running = Running(cluster, dict.fromkeys(settings, ProcessState.LISTENING), settings=settings)
    titles = [stage.title or "the rest" for stage in stages(running, cluster)]
    if len(titles) > 1:
        raise RefusedError(
            f"this change takes {len(titles)} stages, and a playbook makes one pass; nothing was changed on this host",
            details="\n".join(f"{number}. {title}" for number, title in enumerate(titles, 1)),
            resolution="kcluster provision -i INVENTORY, which verifies each stage before the next",
        )
    for refusal in logins.refusals(running, cluster):
        raise RefusedError(f"{refusal.what}; nothing was changed on this host", resolution=refusal.resolution)
