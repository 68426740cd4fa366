"""The record of a local cluster as JSON: the cluster with its layout, its ports, and the processes `up` started."""

from __future__ import annotations

import json
import os
from collections.abc import Mapping
from dataclasses import dataclass, field, fields, is_dataclass, replace
from pathlib import Path
from typing import Any

from kcluster import paths
from kcluster.clients.processes import Process, alive
from kcluster.model.broker import Broker
from kcluster.model.client import Client
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Ensemble, Server
from kcluster.model.host import Host
from kcluster.model.listener import Listener
from kcluster.model.node import Layer, Places
from kcluster.model.quorum import Controller, Quorum
from kcluster.model.release import Release
from kcluster.model.topic import Topic


@dataclass(frozen=True)
class StartedProcess:
    """A process that `up` started for a node."""

    process: Process
    digest: str
    """Of the files and the release it was started with; a different digest needs a restart."""
    archive: str = ""
    """The class archive it writes when it stops, under its temporary name."""


@dataclass(frozen=True)
class UpOrigin:
    """The inventory or topology of a local cluster, so that `up` without options repairs the same one."""

    inventory: str = ""
    brokers: int = 3
    keepers: int = 3
    kraft: bool = False
    version: str = ""


@dataclass(frozen=True)
class ClusterRecord:
    """Everything stored about one local cluster."""

    root: Path
    cluster: Cluster
    origin: UpOrigin = UpOrigin()
    ports: Mapping[str, int] = field(default_factory=dict)
    """Port by purpose: "broker-1 internal". A node that comes back gets the ports it had."""
    release_home: str = ""
    started: Mapping[str, StartedProcess] = field(default_factory=dict)
    """By node name. `down` removes a node, so one that is here and does not run has crashed."""

    @staticmethod
    def at(root: Path) -> Path:
        """The record's file in a cluster's folder."""
        return root / "record.json"

    @classmethod
    def load(cls, root: Path) -> ClusterRecord | None:
        """The record in that directory; None when there is none."""
        try:
            data = json.loads(cls.at(root).read_text())
        except (FileNotFoundError, NotADirectoryError):
            return None
        return cls(
            root=root,
            cluster=_cluster_from_data(data["cluster"]),
            origin=UpOrigin(**data["origin"]),
            ports=data["ports"],
            release_home=data["release_home"],
            started={name: _started(entry) for name, entry in data["started"].items()},
        )

    def save(self) -> None:
        """Write the record atomically, readable by its owner only."""
        data = {
            name: _as_plain_data(getattr(self, name))
            for name in ("cluster", "origin", "ports", "release_home", "started")
        }
        fresh = self.root / "record.json.new"
        self.root.mkdir(parents=True, exist_ok=True)
        # Settings of brokers and clients contain passwords.
        with open(os.open(fresh, os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o600), "w") as out:
            json.dump(data, out, indent=1)
        fresh.replace(self.at(self.root))

    def runs(self, name: str) -> bool:
        """Whether the node's process is alive."""
        return name in self.started and alive(self.started[name].process)

    def living(self) -> dict[str, StartedProcess]:
        """The nodes whose process is alive."""
        return {name: entry for name, entry in self.started.items() if alive(entry.process)}

    def with_started(self, name: str, entry: StartedProcess) -> ClusterRecord:
        """The record after a node was started."""
        return replace(self, started={**self.started, name: entry})

    def without(self, name: str) -> ClusterRecord:
        """The record after a node was stopped."""
        return replace(self, started={other: entry for other, entry in self.started.items() if other != name})


def cluster_names() -> list[str]:
    """The names of the local clusters, running or stopped."""
    folder = paths.home() / "local"
    if not folder.is_dir():
        return []
    return sorted(entry.name for entry in folder.iterdir() if ClusterRecord.at(entry).is_file())


def owned_ports(*, besides: str = "") -> set[int]:
    """The ports of the local clusters, running or stopped, `besides` one."""
    records = (ClusterRecord.load(paths.home() / "local" / name) for name in cluster_names() if name != besides)
    return {port for record in records if record for port in record.ports.values()}


def _started(data: dict[str, Any]) -> StartedProcess:
    return StartedProcess(Process(**data["process"]), data["digest"], data["archive"])


def _as_plain_data(value: Any) -> Any:
    """A part of the model as dictionaries, lists and scalars."""
    if is_dataclass(value):
        return {part.name: _as_plain_data(getattr(value, part.name)) for part in fields(value)}
    if isinstance(value, Mapping):
        return {key: _as_plain_data(item) for key, item in value.items()}
    if isinstance(value, (list, tuple)):
        return [_as_plain_data(item) for item in value]
    return value


def _cluster_from_data(data: dict[str, Any]) -> Cluster:
    """The cluster from its plain data."""
    metadata = data["metadata"]
    return Cluster(
        name=data["name"],
        release=Release(**data["release"] | {"sources": tuple(data["release"]["sources"])}),
        metadata=_ensemble(metadata) if "servers" in metadata else _quorum(metadata),
        brokers=tuple(_broker(broker) for broker in data["brokers"]),
        topics=tuple(Topic(**topic) for topic in data["topics"]),
        client=Client(**data.get("client", {})),  # records of older versions have none
    )


def _ensemble(data: dict[str, Any]) -> Ensemble:
    return Ensemble(tuple(Server(**_node(server)) for server in data["servers"]), data["chroot"])


def _quorum(data: dict[str, Any]) -> Quorum:
    return Quorum(tuple(Controller(**_node(controller)) for controller in data["controllers"]), data["cluster_id"])


def _broker(data: dict[str, Any]) -> Broker:
    listeners = tuple(Listener(**listener) for listener in data["listeners"])
    return Broker(**_node(data) | {"listeners": listeners, "data_dirs": tuple(data["data_dirs"])})


def _node(data: dict[str, Any]) -> dict[str, Any]:
    """The fields of a node, with host, places and layers parsed."""
    return data | {
        "host": Host(**data["host"]),
        "places": Places(**data["places"]),
        "layers": tuple(Layer(**layer) for layer in data["layers"]),
    }
