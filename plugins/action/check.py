"""Checks whether a host is fit for its part of the cluster, and fails it with what `kcluster check` would print."""

from __future__ import annotations

from typing import Any

from ansible import context
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.kcluster.kafka.plugins.plugin_utils import cluster as reading

from kcluster.ansible_api.preflight import Preflight


class ActionModule(ActionBase):
    """The control node's half; scripts of module_utils run on the host. Nothing is changed anywhere."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Without `told`: the facts of this host. With those of all hosts: connect to the others, and judge."""
        super().run(tmp, task_vars)
        cluster, host = reading.cluster(task_vars or {}), str((task_vars or {})["inventory_hostname"])
        preflight = Preflight(cluster, host, self._run)
        answers = self._task.args.get("told")
        if answers is None:
            return {"changed": False, "answer": preflight.ask()}
        together = context.CLIARGS.get("forks", 5) >= len(answers)
        errors, warnings, good = preflight.judge(answers, connect=together)
        if errors:
            raise AnsibleActionFail("\n".join([f"{host} is not fit for its part of {cluster.name}", *errors]))
        if not together:
            note = f"{host}: connections between hosts are not checked: that needs --forks {len(answers)} or more"
            warnings = [note, *warnings]
        return {"changed": False, "warnings": warnings, "good": good}

    def _run(self, command: str, stdin: bytes) -> dict[str, Any]:
        return dict(self._low_level_execute_command(command, sudoable=True, in_data=stdin))
