"""The ids of nodes: a host without one gets a finding with a free number of its own."""

from __future__ import annotations

from collections.abc import Iterator

from kcluster.inventory.levels import HostLevels, Tree
from kcluster.model.finding import Finding, Location
from kcluster.model.node import Kind
from kcluster.rules.structure import ID_VARIABLES, free_ids


class NodeIds:
    """Reads the ids of an inventory's nodes; findings are appended to `findings`."""

    def __init__(self, tree: Tree, findings: list[Finding]) -> None:
        self._tree = tree
        self._findings = findings
        self._free: dict[Kind, Iterator[int]] = {}

    def of(self, member: HostLevels, kind: Kind) -> int:
        """The id of a host's node; a distinct negative number, and a finding, where there is none."""
        variable = ID_VARIABLES[kind]
        number = member.value(variable)
        if number is None and member.written(variable) is None:
            self._findings.append(
                Finding(
                    f"host {member.name} has no {variable}",
                    f"add `{variable}: {self._offer(kind)}` to the host",
                    Location(member.name),
                )
            )
        # A negative id marks a node without one: rules skip it, and the inventory is refused by the finding above.
        return -1 - len(self._findings) if number is None else int(number)

    def _offer(self, kind: Kind) -> int:
        """The next number that no host has, or was offered."""
        if kind not in self._free:
            numbers = (member.value(ID_VARIABLES[kind]) for member in self._tree.members.values())
            self._free[kind] = free_ids(kind, {number for number in numbers if number is not None})
        return next(self._free[kind])
