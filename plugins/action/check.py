"""Asks a host whether it is fit for its part of the cluster, and fails it with what `kcluster check` would say."""

from __future__ import annotations

import time
from typing import Any

from ansible import context
from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible_collections.kcluster.kafka.plugins.plugin_utils import cluster as reading

from kcluster.clients import host_scripts
from kcluster.clients.ssh import CommandResult
from kcluster.facts.preflight import collect, host_facts, port_matrix
from kcluster.model.cluster import Cluster
from kcluster.operations.check import CheckSeverity, judge


class ActionModule(ActionBase):
    """The control node's half; the scripts of plugins/module_utils run on the host. Nothing is changed anywhere."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Without `told`: what this host says of itself. With what all hosts said: knock at the others and judge."""
        super().run(tmp, task_vars)
        found, host = reading.cluster(task_vars or {}), str((task_vars or {})["inventory_hostname"])
        said = self._task.args.get("told")
        if said is None:
            return {"changed": False, "answer": self._ask("preflight_host", collect.host_query(found, host))}
        return self._judged(found, host, said)

    def _judged(self, found: Cluster, host: str, said: dict[str, dict[str, Any]]) -> dict[str, Any]:
        told = collect.PreflightFacts()
        for name, answer in said.items():
            if (sheet := _taken(told, name, answer)) is not None:
                told.hosts[name] = host_facts.host(sheet)
        notes = self._knocked(found, host, told)
        answers = [each for each in judge(found, told).answers if each.host == host]
        errors = [each for each in answers if each.severity is CheckSeverity.ERROR]
        if errors:
            lines = [f"{each.found} [{each.id}]\n  try: {each.fix}" for each in errors]
            raise AnsibleActionFail("\n".join([f"{host} is not fit for its part of {found.name}", *lines]))
        doubts = [
            f"{host}: {each.found}; needed: {each.required} [{each.id}]"
            for each in answers
            if each.severity is CheckSeverity.WARNING
        ]
        return {"changed": False, "warnings": [*notes, *doubts], "good": len(answers) - len(doubts)}

    def _knocked(self, found: Cluster, host: str, told: collect.PreflightFacts) -> list[str]:
        """The ways to the others, when all hosts knock at the same time; else why they are not tried."""
        if host not in told.hosts:
            return []
        if context.CLIARGS.get("forks", 5) < len(told.hosts):
            return [f"{host}: the ways between hosts are not tried: that needs --forks {len(told.hosts)} or more"]
        wanted = port_matrix.questions(found, told.hosts, here=False)[host]
        answer = self._ask("preflight_network", {**wanted, "patience": collect.MORE_PATIENCE})
        if (sheet := _taken(told, host, answer)) is not None:
            told.networks[host] = host_facts.network(sheet)
        return []

    def _ask(self, script: str, wanted: dict[str, Any]) -> dict[str, Any]:
        """Run a script on the host over Ansible's own connection."""
        asked = time.time()
        program = host_scripts.program(script, wanted).encode()
        done = self._low_level_execute_command(collect.COMMAND, sudoable=True, in_data=program)
        return {**{key: done[key] for key in ("rc", "stdout", "stderr")}, "asked": asked, "answered": time.time()}


def _taken(told: collect.PreflightFacts, name: str, said: dict[str, Any]) -> dict[str, Any] | None:
    answer = CommandResult(said["rc"], said["stdout"], said["stderr"])
    return collect.taken(told, name, answer, said["asked"], said["answered"])
