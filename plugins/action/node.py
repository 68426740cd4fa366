"""Says to the module of the same name what the nodes of its host are, and to people what that changed."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.kcluster.kafka.plugins.plugin_utils import cluster as reading
from ansible_collections.kcluster.kafka.plugins.plugin_utils import node_request

from kcluster.model.node import Kind
from kcluster.plan import file_diff
from kcluster.render import RenderedFile

_OF_KAFKA = (Kind.ZOOKEEPER, Kind.CONTROLLER, Kind.BROKER)
_NONE: dict[str, Any] = {"changed": False, "changes": [], "started": [], "stopped": [], "restart_needed": {}}


class ActionModule(ActionBase):
    """The control node's half of kcluster.kafka.node."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Bring the nodes of this host into being."""
        super().run(tmp, task_vars)
        host = str((task_vars or {})["inventory_hostname"])
        found = reading.cluster(task_vars or {})
        nodes = [node_request.NodeRequest.of(found, node) for node in reading.nodes(found, host, self._kinds())]
        if not nodes:
            return dict(_NONE)
        arguments = {**self._task.args, "wanted": json.dumps([node.told for node in nodes])}
        answer = self._execute_module("kcluster.kafka.node", arguments, task_vars=task_vars)
        answer.pop("invocation", None)  # it repeats what was asked for, secrets and all
        return self._shown(nodes, answer)

    def _kinds(self) -> tuple[Kind, ...]:
        if "wanted" in self._task.args:
            raise AnsibleActionFail("`wanted` is made here, from the inventory\ntry: leave it out")
        asked = self._task.args.get("kinds") or _OF_KAFKA
        unknown = [str(kind) for kind in asked if kind not in list(Kind)]
        if unknown:
            raise AnsibleActionFail(f"{', '.join(unknown)} is no kind of node\ntry: one of {', '.join(Kind)}")
        return tuple(map(Kind, asked))

    def _shown(self, nodes: list[node_request.NodeRequest], answer: dict[str, Any]) -> dict[str, Any]:
        """The module's answer for people: the raw texts, which hold secrets, stay here."""
        differing, kept = answer.pop("differing", []), answer.pop("kept", {})
        if self._play_context.diff or self._task.diff:
            answer["diff"] = list(_diff(nodes, differing))
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


def _diff(nodes: list[node_request.NodeRequest], differing: list[dict[str, Any]]) -> Iterator[dict[str, str]]:
    """What differs as Ansible shows it: texts with their secrets hidden, then owner, group and mode."""
    files = {file.path: file for node in nodes for file in node.files}
    for thing in differing:
        path, file, now = thing["path"], files.get(thing["path"]), thing["attributes"]
        if file and thing["text"] != file.text:
            yield _entry(path if now else f"{path} ({thing['wanted']})", *_texts(file, thing["text"]))
        if now != thing["wanted"] and (now or not file):
            yield _entry(f"owner and mode of {path}", now and f"{now}\n", f"{thing['wanted']}\n")


def _texts(file: RenderedFile, text: str | None) -> tuple[str, str]:
    before, after = (one and f"{file_diff.hidden(file.role, one).rstrip()}\n" for one in (text or "", file.text))
    return (before, f"{after}(a secret changes)\n") if before == after else (before, after)


def _entry(what: str, before: str, after: str) -> dict[str, str]:
    return {"before_header": what, "after_header": what, "before": before, "after": after}
