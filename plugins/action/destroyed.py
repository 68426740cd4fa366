"""Says to the module of the same name what the cluster has on its host."""

from __future__ import annotations

import json
from collections.abc import Mapping
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.kcluster.kafka.plugins.plugin_utils import cluster as reading

from kcluster.model.cluster import Cluster
from kcluster.operations.destroy.survey import DestroyPart, common_id, survey_query

_LOOK = "look"


class ActionModule(ActionBase):
    """The control node's half of kcluster.kafka.destroyed."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Take one part of the cluster away from this host."""
        super().run(tmp, task_vars)
        found, name = reading.cluster(task_vars or {}), str((task_vars or {})["inventory_hostname"])
        args = self._task.args
        _check_confirmed(found, str(args.get("confirm", "")))
        host = next((host for host in found.every_host if host.name == name), None)
        if host is None:
            return {"changed": False, "removed": [], "refused": []}
        cluster_id = common_id(_ids(args.get("looks") or []))
        delete_data = str(args.get("delete_data", False)).lower() in ("true", "yes", "1")
        asked = survey_query(found, host, _parts(args), cluster_id=cluster_id, delete_data=delete_data)
        told = {key: args[key] for key in ("part", "confirm") if key in args}
        return dict(
            self._execute_module(
                "kcluster.kafka.destroyed",
                {**told, "delete_data": delete_data, "question": json.dumps(asked)},
                task_vars=task_vars,
            )
        )


def _parts(args: Mapping[str, Any]) -> list[DestroyPart]:
    part = args.get("part", "")
    if part != _LOOK and part not in list(DestroyPart):
        raise AnsibleActionFail(f"there is no part {part}\ntry: one of {_LOOK}, {', '.join(DestroyPart)}")
    return list(DestroyPart) if part == _LOOK else [DestroyPart(part)]


def _check_confirmed(found: Cluster, confirmed: str) -> None:
    if confirmed != found.name:
        given = f"the name given is {confirmed}" if confirmed else "its name was not given"
        raise AnsibleActionFail(
            f"this destroys the cluster {found.name}, and {given}\ntry: -e kafka_destroy_confirm={found.name}"
        )


def _ids(looks: list[Mapping[str, Any]]) -> list[str]:
    """The cluster id of every broker's data directory, from what all hosts said."""
    return [data["cluster_id"] for look in looks for data in look.get("found", {}).get("data", [])]
