"""Reading an inventory: Ansible says what is in it, `cluster_from` makes a Cluster of the answer."""

from __future__ import annotations

from dataclasses import dataclass, replace
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from kcluster.errors import InventoryError
from kcluster.inventory import cache, vault
from kcluster.inventory.builder import cluster_from
from kcluster.inventory.levels import Data
from kcluster.inventory.logins import logins
from kcluster.model.client import Client
from kcluster.model.cluster import Cluster
from kcluster.model.finding import Finding, Severity, report
from kcluster.rules.structure import structure

if TYPE_CHECKING:
    from kcluster.inventory.origins import Origins

__all__ = ["Loaded", "client_of", "cluster_from", "librdkafka", "load", "logins", "read", "refuse"]

_NAMELESS = ("hosts", "inventory", "inventories")


@dataclass(frozen=True)
class Loaded:
    """What an inventory says, and where each thing is written."""

    path: Path
    data: Data

    @cached_property
    def origins(self) -> Origins:
        """The files and lines; looked up only when a finding needs them."""
        from kcluster.inventory.origins import Origins

        return Origins(self.path, self.data)

    @property
    def name(self) -> str:
        """The cluster's name when nobody gives it one: the inventory's."""
        path = self.path.absolute()
        stem = path.name if path.is_dir() else path.stem
        return path.parent.name if stem in _NAMELESS and path.is_file() else stem


def load(path: Path) -> Loaded:
    """What Ansible says of an inventory."""
    if not path.exists():
        raise InventoryError(
            f"there is no inventory {path}", resolution=f"check the path, or write a new one: kcluster init {path}"
        )
    try:
        return Loaded(path, vault.opened(cache.answer(path)))
    except OSError as problem:
        raise InventoryError(
            f"cannot read {problem.filename or path}: {problem.strerror}", resolution="check who may read it: ls -l"
        ) from problem
    except InventoryError as problem:
        from kcluster.inventory.origins import syntax_error

        raise syntax_error(path) or problem from problem


def read(path: Path) -> Cluster:
    """The cluster an inventory describes; refused when it is not a cluster at all (`validate` asks much more)."""
    return cluster_of(load(path))


def cluster_of(loaded: Loaded) -> Cluster:
    """The same of an inventory that was loaded already."""
    cluster, findings = cluster_from(loaded.data, loaded.name)
    if cluster:
        findings += structure(cluster)
    return refuse(loaded, cluster, findings)


def refuse(loaded: Loaded, cluster: Cluster | None, findings: list[Finding]) -> Cluster:
    """The cluster, unless a finding is an error: then all of them at once."""
    errors = [finding for finding in findings if finding.severity is Severity.ERROR]
    if cluster and not errors:
        folder = loaded.path if loaded.path.is_dir() else loaded.path.parent
        return replace(cluster, client=cluster.client.beside(folder.absolute()))
    reported = report(errors, loaded.origins.locate)
    many = "1 error" if len(reported) == 1 else f"{len(reported)} errors"
    raise InventoryError(
        f"the inventory {loaded.path} is refused: {many}",
        details="\n".join(line for found in reported for line in found.lines),
        resolution=f"correct it, then: kcluster validate -i {loaded.path}",
    )


def client_of(path: Path) -> Client:
    """What the file after --client-config says."""
    from kcluster.inventory.client_config import read as read_properties

    return read_properties(path)


def librdkafka(client: Client) -> dict[str, str]:
    """What a client says to the brokers, as librdkafka spells it."""
    from kcluster.inventory import client_config

    return client_config.librdkafka(client)
