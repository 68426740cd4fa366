"""A Spark cluster on hosts: masters and workers."""

from __future__ import annotations

from collections.abc import Collection
from dataclasses import dataclass, field, replace
from typing import ClassVar

from kcluster.model.host import Host
from kcluster.model.node import Kind, Node, Places

PLACES = Places("spark", "spark", "/opt/spark", "/etc/spark", "/var/log/spark")
"""The default account and directories of Spark."""


@dataclass(frozen=True)
class SparkRelease:
    """The Spark in PySpark's wheel: the one version that jobs and their jars are built for."""

    version: str = "4.1.3"

    @property
    def directory(self) -> str:
        """The name of its directory on hosts."""
        return f"spark-{self.version}"

    @property
    def title(self) -> str:
        """The release in a sentence: "Spark 4.1.3"."""
        return f"Spark {self.version}"

    @property
    def java(self) -> int:
        """The oldest Java that it supports."""
        return 17


@dataclass(frozen=True, kw_only=True)
class SparkDaemon(Node):
    """A master or a worker. It has no id: its host names it."""

    id: int = 0
    heap: str = "512m"
    places: Places = PLACES
    port: int
    web_port: int
    work_dir: str = "/var/lib/spark"

    @property
    def name(self) -> str:
        """The node's name, unique in the cluster: "spark-worker-h1"."""
        return f"{self.kind}-{self.host.name}"


@dataclass(frozen=True, kw_only=True)
class SparkMaster(SparkDaemon):
    """One master; of several, one leads and the others are on standby."""

    kind: ClassVar[Kind] = Kind.SPARK_MASTER

    port: int = 7077
    web_port: int = 8080


@dataclass(frozen=True, kw_only=True)
class SparkWorker(SparkDaemon):
    """One worker, which starts the executors of jobs on its host."""

    kind: ClassVar[Kind] = Kind.SPARK_WORKER

    port: int = 7078
    web_port: int = 8081
    cores: int = 0
    """For all executors together; 0: as many as the host has."""
    memory: str = ""
    """For all executors together; empty: the host's memory minus 1 GiB."""


@dataclass(frozen=True)
class SparkCluster:
    """The masters and workers of a cluster."""

    name: str
    """The cluster's name."""
    masters: tuple[SparkMaster, ...]
    workers: tuple[SparkWorker, ...]
    keepers: str = ""
    """The ZooKeeper servers for leader election among masters; empty: a single master with recovery files."""
    secret: str = field(default="", repr=False)
    """The shared secret of daemons and jobs; empty: anyone who reaches a master can run programs."""
    release: SparkRelease = SparkRelease()

    @property
    def nodes(self) -> tuple[SparkDaemon, ...]:
        """Every process, the masters first."""
        return (*self.masters, *self.workers)

    @property
    def hosts(self) -> tuple[Host, ...]:
        """Every host once."""
        return tuple(dict.fromkeys(node.host for node in self.nodes))

    @property
    def url(self) -> str:
        """The master URL for jobs and workers, with all masters."""
        return "spark://" + ",".join(f"{master.host.address}:{master.port}" for master in self.masters)

    def on(self, host: Host) -> tuple[SparkDaemon, ...]:
        """The nodes on one host."""
        return tuple(node for node in self.nodes if node.host == host)

    def on_hosts(self, names: Collection[str]) -> SparkCluster:
        """The part that is on these hosts."""
        return replace(
            self,
            masters=tuple(node for node in self.masters if node.host.name in names),
            workers=tuple(node for node in self.workers if node.host.name in names),
        )
