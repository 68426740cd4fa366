"""Waits until a node may stop, or until it is back: the order and the gates of `kcluster restart`, for playbooks."""

from __future__ import annotations

import sys
from collections.abc import Iterable, Mapping
from importlib.util import find_spec
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible_collections.kcluster.kafka.plugins.plugin_utils import cluster as reading

from kcluster.ansible_api import Cluster, KclusterError, Node, gates

_ARGUMENTS = {"part", "node", "moment", "hosts", "restarted", "began", "timeout", "unsafe_partitions"}
_MOMENTS = ("next", "before", "after")


class ActionModule(ActionBase):
    """Asks over the wire, from the control node; only a diagnosis asks the host."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Wait at the gate that the task names, or say which node is next."""
        super().run(tmp, task_vars)
        args = self._checked()
        _check_client()
        cluster = reading.cluster(task_vars or {})
        host = str((task_vars or {})["inventory_hostname"])
        node = _node(cluster, host, args)
        # What gates and a diagnosis need of Connections; a task about a node is delegated to the node's host.
        hosts: Any = _Host(self, node.host.name if node else host)
        try:
            asking = self._gates(cluster, hosts)
            if args["moment"] == "next":
                return gates.next_restart(asking, args.get("hosts") or (), args.get("restarted") or ())
            if node is None:
                return {"changed": False, "node": "", "unit": "", "leads": False}
            if args["moment"] == "before":
                return gates.before_stop(asking, node, hosts, Display().display)
            began, wait = args.get("began") or {}, not self._task.check_mode
            return gates.after_start(asking, node, began, hosts, Display().display, wait=wait)
        except KclusterError as problem:
            raise reading.failure(problem) from problem

    def _checked(self) -> Mapping[str, Any]:
        args = self._task.args
        if unknown := sorted(set(args) - _ARGUMENTS):
            raise AnsibleActionFail(f"unknown argument: {', '.join(unknown)}\ntry: {', '.join(sorted(_ARGUMENTS))}")
        if args.get("moment") not in _MOMENTS:
            raise AnsibleActionFail(f"moment is one of {', '.join(_MOMENTS)}")
        if args["moment"] != "next" and not args.get("node") and args.get("part") not in gates.PARTS:
            raise AnsibleActionFail(f"name a node, or a part of the host: {', '.join(gates.PARTS)}")
        return dict(args)

    def _gates(self, cluster: Cluster, hosts: Any) -> gates.Gates:
        timeout = float(self._task.args.get("timeout") or gates.GATE_TIMEOUT)
        unsafe = str(self._task.args.get("unsafe_partitions", False)).lower() in ("true", "yes", "1")
        return gates.gates_of(
            cluster, hosts, timeout=0.0 if self._task.check_mode else timeout, unsafe_partitions=unsafe
        )


def _node(cluster: Cluster, host: str, args: Mapping[str, Any]) -> Node | None:
    """The node that the task names, or the one of that part on its host."""
    if name := args.get("node"):
        return next((node for node in cluster.every_node if node.name == name), None)
    return next(iter(reading.nodes(cluster, host, gates.PARTS[args["part"]])), None) if "part" in args else None


def _check_client() -> None:
    """Refuse at the first node of any kind what only the first broker would need, after all others were restarted."""
    if find_spec("confluent_kafka") is None:
        raise AnsibleActionFail(
            "the gates ask brokers with confluent-kafka, which Ansible's Python lacks; nothing was stopped\n"
            f"try: {sys.executable} -m pip install confluent-kafka; or restart with kcluster restart -i INV"
        )


class _Host:
    """The host of the task as a diagnosis asks it, over Ansible's own connection."""

    def __init__(self, action: ActionModule, name: str) -> None:
        self._action = action
        self.names = (name,)

    def run(
        self, command: str, *, stdin: Mapping[str, str], only: Iterable[str], **_: Any
    ) -> dict[str, gates.CommandResult]:
        """The answer of the one host there is."""
        return {name: self.ask(name, command, stdin=stdin[name]) for name in only}

    def ask(self, _name: str, command: str, *, stdin: str, **_: Any) -> gates.CommandResult:
        """Its answer."""
        answer = self._action._low_level_execute_command(command, in_data=stdin.encode())
        return gates.CommandResult(answer["rc"], answer["stdout"], answer["stderr"])
