"""The ids of nodes: a host without one gets a finding with a free number of its own."""

from __future__ import annotations

from collections.abc import Iterator

from kcluster.inventory.foreign_variables import FOREIGN_IDS
from kcluster.inventory.levels import HostLevels, Tree
from kcluster.model.finding import SNIPPET, Finding, Location
from kcluster.model.node import Kind
from kcluster.model.snippet import Assignment
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
            self._findings.append(self._missing(member, kind))
        # A negative id marks a node without one: rules skip it, and the inventory is refused by the finding above.
        return -1 - len(self._findings) if number is None else int(number)

    def _missing(self, member: HostLevels, kind: Kind) -> Finding:
        """What to do about a host without an id: keep the one it has in another role's variable, else a free one."""
        variable = ID_VARIABLES[kind]
        message = f"host {member.name} has no {variable}"
        for other, same in FOREIGN_IDS.items():
            if same == variable and member.written(other) is not None:
                return Finding(message, f"rename {other} to {variable}", Location(member.name, other))
        snippet = Assignment(variable, self._offer(kind))
        return Finding(message, f"add {SNIPPET} to the host", Location(member.name), snippet=snippet)

    def _offer(self, kind: Kind) -> int:
        """The next number that no host has, or was offered."""
        if kind not in self._free:
            self._free[kind] = free_ids(kind, set(self._used(ID_VARIABLES[kind])))
        return next(self._free[kind])

    def _used(self, variable: str) -> Iterator[int]:
        names = [other for other, same in FOREIGN_IDS.items() if same == variable]
        for member in self._tree.members.values():
            written = [member.value(variable), *map(member.written, names)]
            yield from (number for number in written if isinstance(number, int))
