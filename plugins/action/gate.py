"""Waits until the node of a host may stop, or until it is back: the gates of `kcluster restart`, for playbooks."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible_collections.kcluster.kafka.plugins.plugin_utils import cluster as reading

from kcluster import inventory
from kcluster.clients.ssh import CommandResult
from kcluster.errors import KclusterError
from kcluster.model.cluster import Cluster
from kcluster.model.node import Kind, Node
from kcluster.rollout import diagnosis, gates, node_selection, roll
from kcluster.rollout.diagnosis import StartMark
from kcluster.rollout.gates import Gates

_WORDS = {"part", "moment", "began", "timeout", "unsafe_partitions"}
ACCEPT = "-e kafka_unsafe_partitions=true"
"""How users of the playbook accept what cannot be made safe."""
_PARTS = {
    "keepers": (Kind.ZOOKEEPER, Kind.CONTROLLER),
    "brokers": (Kind.BROKER,),
    "masters": (Kind.SPARK_MASTER,),
    "workers": (Kind.SPARK_WORKER,),
}


class ActionModule(ActionBase):
    """Asks over the wire, from the control node; only a diagnosis asks the host."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Wait at the gate that the task names."""
        super().run(tmp, task_vars)
        args = self._checked()
        _client_there()
        found = reading.cluster(task_vars or {})
        nodes = reading.nodes(found, str((task_vars or {})["inventory_hostname"]), _PARTS[args["part"]])
        if not nodes:
            return {"changed": False, "node": "", "unit": "", "leads": False}
        try:
            asking = self._gates(found)
            return self._before(asking, nodes[0]) if args["moment"] == "before" else self._after(asking, nodes[0])
        except KclusterError as problem:
            raise reading.failure(problem) from problem

    def _checked(self) -> Mapping[str, Any]:
        args = self._task.args
        if unknown := sorted(set(args) - _WORDS):
            raise AnsibleActionFail(f"unknown: {', '.join(unknown)}\ntry: {', '.join(sorted(_WORDS))}")
        if args.get("part") not in _PARTS or args.get("moment") not in ("before", "after"):
            raise AnsibleActionFail(f"part is one of {', '.join(_PARTS)}, and moment is before or after")
        return dict(args)

    def _gates(self, found: Cluster) -> Gates:
        timeout = float(self._task.args.get("timeout") or gates.GATE_TIMEOUT)
        unsafe = str(self._task.args.get("unsafe_partitions", False)).lower() in ("true", "yes", "1")
        timeout = 0.0 if self._task.check_mode else timeout
        client = inventory.librdkafka(found.client)
        return Gates(found, client, unsafe_partitions=unsafe, timeout=timeout, hosts=_Host(self))

    def _before(self, asking: Gates, node: Node) -> dict[str, Any]:
        """The node may stop; whether it leads its kind, so that it can be left for last."""
        node_selection.installed(asking.cluster, [node], _Host(self))
        leads = asking.leader(node.kind) == node.name
        roll.refuse_unsafe(asking, [[node]], accept=ACCEPT)
        roll.wait_before_stop(asking, [node], Display().display, state="")
        (began,) = diagnosis.marks([node], _Host(self))
        facts = {"node": node.name, "unit": diagnosis.unit_of(node), "leads": leads}
        return {"changed": False, **facts, "began": {"since": began.since, "log_size": began.log_size}}

    def _after(self, asking: Gates, node: Node) -> dict[str, Any]:
        """The node is back, and has caught up; or why it does not come back."""
        facts = {"changed": False, "node": node.name, "unit": diagnosis.unit_of(node)}
        if self._task.check_mode:
            return facts
        began = self._task.args.get("began") or {}
        start = StartMark(node, int(began.get("since", 0)), int(began.get("log_size", 0)))
        roll.wait_after_start([start], _Host(self), Display().display, asking.timeout, lambda: asking.after_start(node))
        return facts


def _client_there() -> None:
    """Refuse at the first node of any kind what only the first broker would need, after all others were restarted."""
    if find_spec("confluent_kafka") is None:
        raise AnsibleActionFail(
            "the gates ask brokers with confluent-kafka, and Ansible's Python has none; nothing was stopped\n"
            f"try: {sys.executable} -m pip install confluent-kafka; or restart with kcluster restart -i INV"
        )


class _Host:
    """The host of the task as a diagnosis asks it, over Ansible's own connection."""

    def __init__(self, action: ActionModule) -> None:
        self._action = action

    def run(self, command: str, *, stdin: Mapping[str, str], only: Iterable[str], **_: Any) -> dict[str, CommandResult]:
        """The answer of the one host there is."""
        return {name: self.ask(name, command, stdin=stdin[name]) for name in only}

    def ask(self, _name: str, command: str, *, stdin: str, **_: Any) -> CommandResult:
        """Its answer."""
        said = self._action._low_level_execute_command(command, in_data=stdin.encode())
        return CommandResult(said["rc"], said["stdout"], said["stderr"])
