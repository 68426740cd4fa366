"""For the action `check`: what a host is asked, and what the answers of all hosts mean for one of them."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kcluster.clients import host_scripts
from kcluster.clients.ssh import CommandResult
from kcluster.facts.preflight import collect, host_facts, port_matrix
from kcluster.facts.preflight.check_results import CheckSeverity
from kcluster.model.cluster import Cluster
from kcluster.operations.check import judge

Run = Callable[[str, bytes], Mapping[str, Any]]
"""Runs a command on the host with this input, and returns its `rc`, `stdout` and `stderr`."""


@dataclass(frozen=True)
class Preflight:
    """The preflight of one host of a cluster, over Ansible's own connection."""

    cluster: Cluster
    host: str
    run: Run

    def ask(self) -> dict[str, Any]:
        """The answer of the host about itself, and when it was asked and answered."""
        return self._ask("preflight_host", collect.host_query(self.cluster, self.host))

    def judge(self, answers: Mapping[str, Mapping[str, Any]], *, connect: bool) -> tuple[list[str], list[str], int]:
        """Errors, warnings, and how many checks are good, from the answers of all hosts to `ask`.

        `connect` says whether all hosts do this at the same time, so that they can connect to each other.
        """
        facts = collect.PreflightFacts()
        for name, answer in answers.items():
            if (sheet := _taken(facts, name, answer)) is not None:
                facts.hosts[name] = host_facts.host(sheet)
        if connect and self.host in facts.hosts:
            self._connect(facts)
        results = [each for each in judge(self.cluster, facts).answers if each.host == self.host]
        errors = [each for each in results if each.severity is CheckSeverity.ERROR]
        warnings = [each for each in results if each.severity is CheckSeverity.WARNING]
        return (
            [f"{each.found} [{each.id}]\n  try: {each.fix}" for each in errors],
            [f"{self.host}: {each.found}; needed: {each.required} [{each.id}]" for each in warnings],
            len(results) - len(errors) - len(warnings),
        )

    def _connect(self, facts: collect.PreflightFacts) -> None:
        """Connect to the ports of the other hosts, which do the same now."""
        question = port_matrix.questions(self.cluster, facts.hosts, here=False)[self.host]
        answer = self._ask("preflight_network", {**question, "patience": collect.MORE_PATIENCE})
        if (sheet := _taken(facts, self.host, answer)) is not None:
            facts.networks[self.host] = host_facts.network(sheet)

    def _ask(self, script: str, question: Mapping[str, Any]) -> dict[str, Any]:
        asked = time.time()
        answer = self.run(collect.COMMAND, host_scripts.program(script, question).encode())
        return {**{key: answer[key] for key in ("rc", "stdout", "stderr")}, "asked": asked, "answered": time.time()}


def _taken(facts: collect.PreflightFacts, name: str, said: Mapping[str, Any]) -> dict[str, Any] | None:
    answer = CommandResult(said["rc"], said["stdout"], said["stderr"])
    return collect.taken(facts, name, answer, said["asked"], said["answered"])
