"""Why a gate is closed, or a node is not serving yet."""

from __future__ import annotations

from dataclasses import dataclass

_SHOWN = 4
"""How many partitions fit into a line."""


@dataclass(frozen=True)
class Reason:
    """Why a gate is closed."""

    text: str
    partitions: tuple[str, ...] = ()
    """The partitions it is about: "orders-3"."""
    remedy: str = ""
    """What to do where waiting does not help."""

    def __str__(self) -> str:
        """One line, with the first partitions."""
        if not self.partitions:
            return self.text
        more = len(self.partitions) - _SHOWN
        return f"{self.text}: {', '.join(self.partitions[:_SHOWN])}{f' and {more} more' if more > 0 else ''}"

    @property
    def full(self) -> str:
        """One line, with every partition."""
        return f"{self.text}: {', '.join(self.partitions)}" if self.partitions else self.text
