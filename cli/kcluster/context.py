"""Which cluster a command talks to: the inventory, the local cluster's name, or a bootstrap address."""

from __future__ import annotations

import os
from dataclasses import dataclass
from functools import cached_property
from pathlib import Path
from typing import TYPE_CHECKING

from kcluster import show
from kcluster.clients.kafka import Kafka
from kcluster.errors import UsageError

if TYPE_CHECKING:
    from kcluster.clients.ssh import Login
    from kcluster.inventory import Loaded
    from kcluster.model.client import Client
    from kcluster.model.cluster import Cluster
    from kcluster.model.topic import Topic

PASSWORD_VARIABLE = "KCLUSTER_BECOME_PASSWORD"
INVENTORY_VARIABLE = "KCLUSTER_INVENTORY"


@dataclass
class Target:
    """The cluster that the command line names: by an inventory, a local name or a bootstrap address."""

    inventory: Path | None = None
    name: str | None = None
    bootstrap: str | None = None
    client_config: Path | None = None
    ask_become: bool = False
    """Whether to ask for sudo's password."""

    def __post_init__(self) -> None:
        """Refuse to guess which of two clusters is meant; a flag outranks the inventory of the environment."""
        if (self.bootstrap or self.name) and self.inventory == Path(os.environ.get(INVENTORY_VARIABLE, "")):
            self.inventory = None
        flags = {"--inventory": self.inventory, "--name": self.name, "--bootstrap": self.bootstrap}
        given = [f"{flag} {value}" for flag, value in flags.items() if value]
        if len(given) > 1:
            raise UsageError(f"{' and '.join(given)} name two clusters", resolution="give one of them")

    @cached_property
    def cluster(self) -> Cluster:
        """The cluster's model: as it runs on this machine when it is local, else as the inventory says."""
        if self.bootstrap:
            raise UsageError("this command needs an inventory or a local cluster", resolution="use -i INV or -n NAME")
        from kcluster import inventory, local  # here, because --bootstrap does not need them

        if self.name:
            return local.running(self.name)
        if self.inventory:
            cluster = inventory.read(self.inventory)
            return local.running(cluster.name) if cluster.local else cluster
        return local.running(local.only())

    @cached_property
    def remote(self) -> Cluster:
        """The cluster, which must be one on separate hosts."""
        if not self.inventory:
            raise UsageError("this command needs an inventory of a cluster on hosts", resolution="use -i INV")
        from kcluster import inventory

        cluster = inventory.read(self.inventory)
        if cluster.local:
            raise UsageError(
                f"{cluster.name} is a cluster on this machine; this command is for clusters on hosts",
                resolution="use kcluster up, down, status and logs",
            )
        return cluster

    @cached_property
    def loaded(self) -> Loaded:
        """The inventory as it was loaded, before it is a model."""
        if not self.inventory:
            raise UsageError("this command needs an inventory", resolution="use -i INV")
        from kcluster import inventory

        return inventory.load(self.inventory)

    @cached_property
    def logins(self) -> dict[str, Login]:
        """The SSH login of each host of the cluster, by its name in the inventory."""
        from kcluster import inventory

        logins = inventory.logins(self.loaded, self.become_password)
        return {host.name: logins[host.name] for host in self.remote.every_host}

    @property
    def declared_topics(self) -> tuple[Topic, ...]:
        """The topics as the inventory declares them now, also where the local cluster was started before a change."""
        if not self.inventory:
            return self.cluster.topics
        from kcluster import inventory

        return inventory.read(self.inventory).topics

    @cached_property
    def kafka(self) -> Kafka:
        """A client of the cluster, at the listener that speaks its protocol."""
        return Kafka(self.bootstrap or self.cluster.bootstrap_for(self.client.protocol), self._librdkafka())

    @cached_property
    def client(self) -> Client:
        """The client properties: of --client-config, else of the inventory."""
        if self.client_config:
            from kcluster import inventory

            return inventory.client_of(self.client_config)
        if self.bootstrap:
            from kcluster.model.client import Client

            return Client()
        return self.cluster.client

    @cached_property
    def become_password(self) -> str:
        """The sudo password for hosts whose inventory has none; empty without --ask-become-pass and the variable."""
        if not self.ask_become:
            return os.environ.get(PASSWORD_VARIABLE, "")
        if not show.interactive():
            raise UsageError("no terminal to ask for the sudo password", resolution=f"set {PASSWORD_VARIABLE}")
        return show.secret("sudo password: ")

    def _librdkafka(self) -> dict[str, str]:
        if not self.client.written:
            return {}
        from kcluster import inventory  # here, because most clusters need no more than an address

        return inventory.librdkafka(self.client)

    @property
    def endpoint(self) -> str:
        """The cluster's name, when it has one here, and its first bootstrap address; for questions before a change."""
        address = self.kafka.bootstrap.partition(",")[0]
        return address if self.bootstrap else f"{self.cluster.name}, {address}"

    @property
    def spelled(self) -> str:
        """The option that names the cluster, for suggested commands."""
        if self.bootstrap:
            return f"--bootstrap {self.bootstrap}"
        if self.inventory:
            return f"-i {self.inventory}"
        return f"-n {self.name}" if self.name else ""
