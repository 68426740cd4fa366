"""One step from the topics that are there to the topics that were declared."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum


class TopicAction(StrEnum):
    """What is done to a topic."""

    CREATE = "create"
    GROW = "add partitions"
    SET = "set"
    UNSET = "unset"
    DELETE = "delete"
    KEEP = "not changed"


KEYED = "records of a key go to another partition than before: the order of a key holds only from here on"


@dataclass(frozen=True)
class TopicChange:
    """One line of a plan."""

    action: TopicAction
    topic: str
    what: str = ""
    """The property, or "partitions"."""
    before: str = ""
    after: str = ""
    note: str = ""

    @property
    def words(self) -> str:
        """The step in a few words: "set orders retention.ms 60000"."""
        return " ".join(word for word in (self.action, self.topic, self.what, self.after) if word)
