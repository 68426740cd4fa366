"""Describes the nodes of its host to the module of the same name, and to people what that changed."""

from __future__ import annotations

import json
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.kcluster.kafka.plugins.module_utils import sealing
from ansible_collections.kcluster.kafka.plugins.plugin_utils import cluster as reading

from kcluster.ansible_api import Cluster, KclusterError, Kind, by_kcluster
from kcluster.ansible_api.node_request import NodeRequest, diff
from kcluster.ansible_api.one_pass import refuse_stages

_OF_KAFKA = (Kind.ZOOKEEPER, Kind.CONTROLLER, Kind.BROKER)
_NONE: dict[str, Any] = {"changed": False, "changes": [], "started": [], "stopped": [], "restart_needed": {}}


class ActionModule(ActionBase):
    """The control node's half of kcluster.kafka.node."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Configure the nodes of this host, and start them unless `state` is prepared."""
        super().run(tmp, task_vars)
        host = str((task_vars or {})["inventory_hostname"])
        cluster = reading.cluster(task_vars or {})
        nodes = [NodeRequest.of(cluster, node) for node in reading.nodes(cluster, host, self._kinds())]
        if not nodes:
            return dict(_NONE)
        key = sealing.new_key()
        wanted = json.dumps({"nodes": [node.question for node in nodes], "key": key})
        arguments = {**self._task.args, "wanted": wanted}
        answer, texts = self._asked(arguments, key, task_vars, check_mode=self._task.check_mode or not by_kcluster())
        if not by_kcluster():
            self._refuse_stages(cluster, nodes, texts)
            if not self._task.check_mode:
                answer, texts = self._asked(arguments, key, task_vars, check_mode=False)
        return self._shown(nodes, answer, texts)

    def _asked(
        self, arguments: dict[str, Any], key: str, task_vars: dict[str, Any] | None, *, check_mode: bool
    ) -> tuple[dict[str, Any], dict[str, Any]]:
        """The module's answer, and the texts in it that hold secrets; in check mode nothing is changed on the host."""
        asked, self._task.check_mode = self._task.check_mode, check_mode
        try:
            answer = self._execute_module("kcluster.kafka.node", arguments, task_vars=task_vars)
        finally:
            self._task.check_mode = asked
        answer.pop("invocation", None)  # it repeats what was asked for, secrets and all
        return answer, json.loads(sealing.unsealed(answer.pop("sealed"), key)) if "sealed" in answer else {}

    def _refuse_stages(self, cluster: Cluster, nodes: list[NodeRequest], texts: dict[str, Any]) -> None:
        """End the task where `kcluster provision` would make the change in stages."""
        try:
            refuse_stages(cluster, nodes, texts.get("kept", {}))
        except KclusterError as problem:
            raise reading.failure(problem) from problem

    def _kinds(self) -> tuple[Kind, ...]:
        if "wanted" in self._task.args:
            raise AnsibleActionFail("`wanted` is made from the inventory\ntry: leave it out")
        asked = self._task.args.get("kinds") or _OF_KAFKA
        unknown = [str(kind) for kind in asked if kind not in list(Kind)]
        if unknown:
            raise AnsibleActionFail(f"{', '.join(unknown)} is no kind of node\ntry: one of {', '.join(Kind)}")
        return tuple(map(Kind, asked))

    def _shown(self, nodes: list[NodeRequest], answer: dict[str, Any], texts: dict[str, Any]) -> dict[str, Any]:
        """The module's answer for people: of the raw texts, which hold secrets, only what may be shown."""
        differing, kept = texts.get("differing", []), texts.get("kept", {})
        if self._play_context.diff or self._task.diff:
            answer["diff"] = list(diff(nodes, differing))
        if not answer.get("failed"):
            before = {thing["path"]: thing["text"] for thing in differing}
            reasons = {node.name: node.reasons(kept[node.name], before) for node in nodes if node.name in kept}
            answer["restart_needed"] = {name: list(why) for name, why in reasons.items() if why}
            answer.setdefault("warnings", []).extend(
                f"{name} runs as it was started and needs a restart, one node at a time (playbooks/restart.yml): "
                + "; ".join(why)
                for name, why in reasons.items()
                if why
            )
        return answer
