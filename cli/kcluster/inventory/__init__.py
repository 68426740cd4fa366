"""Reading an inventory: Ansible exports it, `cluster_from` builds a Cluster from the export."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from kcluster.errors import InventoryError
from kcluster.inventory import cache, vault, vault_errors
from kcluster.inventory.builder import cluster_from
from kcluster.inventory.levels import Data
from kcluster.inventory.logins import logins
from kcluster.model.client import Client
from kcluster.model.cluster import Cluster
from kcluster.model.finding import Finding, Severity, report
from kcluster.results import counted
from kcluster.rules.structure import structure

if TYPE_CHECKING:
    from kcluster.inventory.origins import Origins

__all__ = ["Loaded", "client_of", "cluster_from", "librdkafka", "load", "logins", "read", "refuse"]

_NAMELESS = ("hosts", "inventory", "inventories")


@dataclass(frozen=True)
class Loaded:
    """An inventory as exported by Ansible, with the origins of its variables."""

    path: Path
    data: Data

    @cached_property
    def origins(self) -> Origins:
        """The files and lines of its variables; read only when a finding needs them."""
        from kcluster.inventory.origins import Origins

        return Origins(self.path, self.data)

    @property
    def name(self) -> str:
        """The default name of the cluster: that of the inventory's directory or file."""
        path = self.path.absolute()
        stem = path.name if path.is_dir() else path.stem
        return path.parent.name if stem in _NAMELESS and path.is_file() else stem


def load(path: Path) -> Loaded:
    """The inventory at a path as Ansible exports it; InventoryError when it cannot be read."""
    if not path.exists():
        raise InventoryError(
            f"there is no inventory {path}", resolution=f"check the path, or write a new one: kcluster init {path}"
        )
    try:
        return Loaded(path, vault.decrypted(cache.export(path), path))
    except OSError as problem:
        raise InventoryError(
            f"cannot read {problem.filename or path}: {problem.strerror}", resolution="check its permissions: ls -l"
        ) from problem
    except InventoryError as problem:
        from kcluster.inventory.origins import syntax_error

        raise vault_errors.of_file(path, problem) or syntax_error(path) or problem from problem


def read(path: Path) -> Cluster:
    """The cluster of an inventory; InventoryError on structural errors only (`validate` applies all rules)."""
    return cluster_of(load(path))


def cluster_of(loaded: Loaded) -> Cluster:
    """The cluster of a loaded inventory; InventoryError on structural errors."""
    cluster, findings = cluster_from(loaded.data, loaded.name)
    if cluster:
        findings += structure(cluster)
    return refuse(loaded, cluster, findings)


def refuse(loaded: Loaded, cluster: Cluster | None, findings: list[Finding]) -> Cluster:
    """The cluster, or InventoryError with all findings that are errors."""
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    if cluster and not errors:
        folder = loaded.path if loaded.path.is_dir() else loaded.path.parent
        return replace(cluster, client=cluster.client.beside(folder.absolute()))
    reported = report(errors, loaded.origins.locate, loaded.origins.syntax)
    raise InventoryError(
        f"the inventory {loaded.path} is refused: {counted(len(reported), 'error')}",
        details="\n".join(line for found in reported for line in found.lines),
        resolution=f"correct it, then: kcluster validate -i {loaded.path}",
    )


def client_of(path: Path) -> Client:
    """The client properties of a file; UsageError when it cannot be read."""
    from kcluster.inventory.client_config import read as read_properties

    return read_properties(path)


def librdkafka(client: Client) -> dict[str, str]:
    """The client properties with the names of librdkafka; UsageError for those it does not support."""
    from kcluster.inventory import client_config

    return client_config.librdkafka(client)
