"""`validate`: all findings of all rules about an inventory."""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from kcluster import inventory
from kcluster.errors import ExitCode
from kcluster.inventory import variable_findings
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Ensemble
from kcluster.model.finding import Finding, Reported, Severity, report
from kcluster.results import Block, Cell, Result, Tone, counted
from kcluster.rules import broker_startup, directories, network, properties, replication, safety, structure
from kcluster.rules import spark as spark_rules

Rule = Callable[[Cluster], Iterable[Finding]]

RULES: tuple[Rule, ...] = (
    structure.structure,
    *network.RULES,
    *safety.RULES,
    *replication.RULES,
    *directories.RULES,
    *properties.RULES,
    *broker_startup.RULES,
    *spark_rules.RULES,
)
"""Every rule: a pure function from a cluster to findings."""


@dataclass(frozen=True)
class Validation(Result):
    """The findings about an inventory, and whether it is refused."""

    inventory: str
    summary: str
    """The cluster in one line; empty when there is none."""
    findings: tuple[Reported, ...]
    strict: bool = False

    @property
    def errors(self) -> int:
        """The number of errors."""
        return sum(found.severity is Severity.ERROR for found in self.findings)

    @property
    def warnings(self) -> int:
        """The number of warnings, which refuse the inventory with --strict only."""
        return len(self.findings) - self.errors

    @property
    def refused(self) -> bool:
        """Whether the inventory is refused."""
        return bool(self.errors or (self.strict and self.findings))

    @property
    def exit_code(self) -> ExitCode:
        """INVENTORY when it is refused."""
        return ExitCode.INVENTORY if self.refused else ExitCode.DONE

    def data(self) -> Any:
        """The fields and the verdict."""
        return {
            "inventory": self.inventory,
            "summary": self.summary,
            "refused": self.refused,
            "errors": self.errors,
            "warnings": self.warnings,
            "findings": [vars(found) for found in self.findings],
        }

    def view(self) -> Iterable[Block]:
        """Each finding, then one line with the verdict."""
        for found in self.findings:
            tone = Tone.BAD if found.severity is Severity.ERROR else Tone.WARN
            first, *others = found.lines
            yield Cell(first, tone)
            yield from others
        summary = f"{self.summary}; " if self.summary else ""
        yield Cell(
            f"{self.inventory}: {summary}{self._counts()}{' - refused' if self.refused else ''}",
            Tone.BAD if self.refused else Tone.GOOD,
        )

    def _counts(self) -> str:
        counts = ((self.errors, "error"), (self.warnings, "warning"))
        return ", ".join(counted(number, noun) for number, noun in counts if number) or "no findings"


def validate(path: Path, *, strict: bool = False) -> Validation:
    """All findings about an inventory; InventoryError when it cannot be read."""
    loaded = inventory.load(path)
    cluster, findings = _findings(loaded)
    return Validation(
        inventory=str(path),
        summary=describe(cluster) if cluster else "",
        findings=report(findings, loaded.origins.locate, loaded.origins.syntax),
        strict=strict,
    )


def accepted(loaded: inventory.Loaded) -> Cluster:
    """The cluster of an inventory; InventoryError with all errors when a rule refuses it."""
    return inventory.refuse(loaded, *_findings(loaded))


def _findings(loaded: inventory.Loaded) -> tuple[Cluster | None, list[Finding]]:
    """The cluster, if there is one, and all findings."""
    cluster, findings = inventory.cluster_from(loaded.data, loaded.name)
    findings += variable_findings.name_findings(loaded.data)
    return cluster, findings + (judge(cluster) if cluster else [])


def judge(cluster: Cluster) -> list[Finding]:
    """The findings of all rules about a cluster."""
    return [finding for rule in RULES for finding in rule(cluster)]


def describe(cluster: Cluster) -> str:
    """A cluster in one line: "3 ZooKeeper servers (tolerates 1), 3 brokers, Kafka 3.9.2"."""
    metadata = counted(len(cluster.metadata.nodes), "ZooKeeper server" if _zookeeper(cluster) else "controller")
    brokers = counted(len(cluster.brokers), "broker")
    topics = f", {counted(len(cluster.topics), 'topic')}" if cluster.topics else ""
    kafka = f"{metadata} (tolerates {cluster.metadata.tolerates}), {brokers}{topics}, {cluster.release.title}"
    if not (engine := cluster.engine):
        return kafka
    counts = ((len(engine.masters), "Spark master"), (len(engine.workers), "Spark worker"))
    spark = ", ".join(counted(number, noun) for number, noun in counts if number)
    return f"{kafka}; {spark}, {engine.release.title}"


def _zookeeper(cluster: Cluster) -> bool:
    return isinstance(cluster.metadata, Ensemble)
