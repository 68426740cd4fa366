"""Asks the module of the same name to remove what the cluster has on its host."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.kcluster.kafka.plugins.plugin_utils import cluster as reading

from kcluster.ansible_api import Cluster, removal


class ActionModule(ActionBase):
    """The control node's half of kcluster.kafka.destroyed."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Remove one part of the cluster from this host."""
        super().run(tmp, task_vars)
        cluster, host = reading.cluster(task_vars or {}), str((task_vars or {})["inventory_hostname"])
        args = self._task.args
        _check_confirmed(cluster, str(args.get("confirm", "")))
        part = str(args.get("part", ""))
        if part not in removal.PARTS:
            raise AnsibleActionFail(f"there is no part {part}\ntry: one of {', '.join(removal.PARTS)}")
        delete_data = str(args.get("delete_data", False)).lower() in ("true", "yes", "1")
        question = removal.question(cluster, host, part, surveys=args.get("looks") or [], delete_data=delete_data)
        if question is None:
            return {"changed": False, "removed": [], "refused": []}
        arguments = {"part": part, "confirm": args["confirm"], "delete_data": delete_data, "question": question}
        return dict(self._execute_module("kcluster.kafka.destroyed", arguments, task_vars=task_vars))


def _check_confirmed(cluster: Cluster, confirmed: str) -> None:
    if confirmed != cluster.name:
        given = f"the name given is {confirmed}" if confirmed else "its name was not given"
        raise AnsibleActionFail(
            f"this destroys the cluster {cluster.name}, and {given}\ntry: -e kafka_destroy_confirm={cluster.name}"
        )
