# Apache License 2.0 (see LICENSE)
"""Hands what the inventory wants of a host to the module of the same name."""

from __future__ import annotations

from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.kcluster.kafka.plugins.plugin_utils import cluster as reading

from kcluster.ansible_api import whose


class ActionModule(ActionBase):
    """The control node's half of kcluster.kafka.host."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Read the inventory, then let the module do the rest."""
        super().run(tmp, task_vars)
        cluster = reading.cluster(task_vars or {})
        args = {name: value for name, value in self._task.args.items() if name != "part"}
        part = reading.part(cluster, self._task.args)
        nodes = [node for node in part.nodes if node.host.name == (task_vars or {})["inventory_hostname"]]
        if not nodes:
            raise AnsibleActionFail(
                f"no node of {cluster.name} is on this host\ntry: put it into a group, or name others"
            )
        places, environment = nodes[0].places, nodes[0].environment
        wanted = {
            "user": places.user,
            "group": places.group,
            "install_dir": places.install_dir,
            "config_dir": places.config_dir,
            "log_dir": places.log_dir,
            "release": part.release.title,
            "oldest_java": part.release.java,
            "java_home": environment.get("JAVA_HOME", ""),
            "path": environment.get("PATH", ""),
            "whose": whose(part, nodes),
        }
        return dict(self._execute_module("kcluster.kafka.host", {**wanted, **args}, task_vars=task_vars))
