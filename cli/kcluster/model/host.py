"""A host that runs nodes."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Host:
    """A host of the inventory."""

    name: str
    address: str
    """`ansible_host`, or the name."""
    local: bool = False
    """`ansible_connection: local`: `kcluster up` runs its nodes on this machine and chooses their ports."""

    @property
    def machine(self) -> str:
        """The identity of its machine: the address; of a local host its name, as each has its own ports."""
        return self.name if self.local else self.address
