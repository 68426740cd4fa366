"""A host: where nodes run."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Host:
    """A machine of the inventory, under its inventory name."""

    name: str
    address: str
    """`ansible_host`, or the name."""
    local: bool = False
    """`ansible_connection: local`: `kcluster up` places it on this machine and chooses its ports."""

    @property
    def machine(self) -> str:
        """Hosts with the same address are the same machine; each local host is placed apart by `kcluster up`."""
        return self.name if self.local else self.address
