# Apache License 2.0 (see LICENSE)
"""Tells the module what the inventory wants of a host."""

from __future__ import annotations

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.kcluster.kafka.plugins.plugin_utils import cluster as reading


class ActionModule(ActionBase):
    """The control node's half of kcluster.kafka.host."""

    def run(self, tmp=None, task_vars=None):
        """Read the inventory, then let the module do the rest."""
        super().run(tmp, task_vars)
        found = reading.cluster(task_vars)
        args = {**self._task.args}
        part = reading.part(found, args)
        args.pop("part", None)
        nodes = [node for node in part.nodes if node.host.name == task_vars["inventory_hostname"]]
        if not nodes:
            raise AnsibleActionFail(
                f"no node of {found.name} is on this host\ntry: put it into a group, or name others"
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
            "whose": reading.whose(part, nodes),
        }
        return self._execute_module(
            module_name="kcluster.kafka.host", module_args={**wanted, **args}, task_vars=task_vars
        )
