"""Validate an inventory: every rule is asked, and every finding is reported at once."""

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
from kcluster.results import Block, Cell, Result, Tone
from kcluster.rules import broker_startup, directories, network, properties, replication, safety, spark, structure

Rule = Callable[[Cluster], Iterable[Finding]]

RULES: tuple[Rule, ...] = (
    structure.structure,
    *network.RULES,
    *safety.RULES,
    *replication.RULES,
    *directories.RULES,
    *properties.RULES,
    *broker_startup.RULES,
    *spark.RULES,
)
"""Every rule about a cluster: a small pure function."""


@dataclass(frozen=True)
class Validation(Result):
    """What the rules found in an inventory."""

    inventory: str
    summary: str
    """What the cluster is; empty when it cannot be made out."""
    findings: tuple[Reported, ...]
    strict: bool = False

    @property
    def errors(self) -> int:
        """How many findings refuse the inventory."""
        return sum(found.severity is Severity.ERROR for found in self.findings)

    @property
    def warnings(self) -> int:
        """How many findings refuse it only when asked to be strict."""
        return len(self.findings) - self.errors

    @property
    def refused(self) -> bool:
        """Whether the inventory may not be used."""
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
        counts = [_count(self.errors, "error"), _count(self.warnings, "warning")]
        return ", ".join(count for count in counts if count) or "no findings"


def validate(path: Path, *, strict: bool = False) -> Validation:
    """Ask every rule about an inventory."""
    loaded = inventory.load(path)
    cluster, findings = _asked(loaded)
    return Validation(
        inventory=str(path),
        summary=describe(cluster) if cluster else "",
        findings=report(findings, loaded.origins.locate),
        strict=strict,
    )


def accepted(loaded: inventory.Loaded) -> Cluster:
    """The cluster of an inventory, once every rule was asked; refused with all errors at once."""
    return inventory.refuse(loaded, *_asked(loaded))


def _asked(loaded: inventory.Loaded) -> tuple[Cluster | None, list[Finding]]:
    """The cluster, if there is one, and what all rules say."""
    cluster, findings = inventory.cluster_from(loaded.data, loaded.name)
    findings += variable_findings.name_findings(loaded.data)
    return cluster, findings + (judge(cluster) if cluster else [])


def judge(cluster: Cluster) -> list[Finding]:
    """What all rules say about a cluster."""
    return [finding for rule in RULES for finding in rule(cluster)]


def describe(cluster: Cluster) -> str:
    """A cluster in one line: "3 ZooKeeper servers (tolerates 1), 3 brokers, Kafka 3.9.2"."""
    keepers = _count(len(cluster.metadata.nodes), "ZooKeeper server" if _zookeeper(cluster) else "controller")
    brokers = _count(len(cluster.brokers), "broker")
    topics = f", {_count(len(cluster.topics), 'topic')}" if cluster.topics else ""
    kafka = f"{keepers} (tolerates {cluster.metadata.tolerates}), {brokers}{topics}, {cluster.release.title}"
    if not (engine := cluster.engine):
        return kafka
    counts = (_count(len(engine.masters), "Spark master"), _count(len(engine.workers), "Spark worker"))
    return f"{kafka}; {', '.join(count for count in counts if count)}, {engine.release.title}"


def _zookeeper(cluster: Cluster) -> bool:
    return isinstance(cluster.metadata, Ensemble)


def _count(number: int, what: str) -> str:
    return f"{number} {what}{'s' if number != 1 else ''}" if number else ""
