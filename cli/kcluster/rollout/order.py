"""The safe order: followers of the metadata quorum, its leader, brokers, the controller last of them, then Spark."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from typing import Generic, TypeVar

from kcluster.errors import UsageError
from kcluster.model.broker import Broker
from kcluster.model.finding import some
from kcluster.model.node import Kind, Node
from kcluster.results import counted

N = TypeVar("N", bound=Node)

_KINDS = tuple(Kind)
_STAGES = ((Kind.ZOOKEEPER, Kind.CONTROLLER), (Kind.BROKER,), (Kind.SPARK_MASTER,), (Kind.SPARK_WORKER,))


@dataclass(frozen=True)
class AtOnce:
    """How many brokers of a roll restart together, as far as every partition can spare all of them."""

    most: int | None = 1
    """None for as many as are safe."""
    by_rack: bool = False
    """Whether they must be of one rack."""

    def __str__(self) -> str:
        """As it stands behind what is restarted: "one at a time"."""
        if self.by_rack:
            return "safe sets of a rack at once"
        return "one at a time" if self.most == 1 else f"safe sets of up to {self.most} brokers at once"

    @property
    def others(self) -> int | None:
        """How many may join the first of a set."""
        return self.most and self.most - 1

    @staticmethod
    def of(text: str, brokers: Iterable[Broker]) -> AtOnce:
        """What --at-once says about the roll of these brokers; UsageError for a wrong value or missing racks."""
        if text == "rack":
            if without := [broker.name for broker in brokers if not broker.rack]:
                where = f"{counted(len(without), 'broker')} without kafka_rack ({some(without)})"
                advice = "set kafka_rack for every broker, or use --at-once N"
                raise UsageError(
                    f"--at-once rack: there {'is' if len(without) == 1 else 'are'} {where}", resolution=advice
                )
            return AtOnce(None, by_rack=True)
        if not text.isdecimal() or not int(text):
            raise UsageError(f"--at-once {text}: use a whole number of at least 1, or rack")
        return AtOnce(int(text))


ONE_BY_ONE = AtOnce()


@dataclass(frozen=True)
class Turn(Generic[N]):
    """The next node of a roll, and those that may go with it if that is safe."""

    first: N
    candidates: tuple[N, ...] = ()
    last: N | None = None
    """The controller: it goes with them only when all the others do, so that none is left for later."""

    @property
    def others(self) -> list[N]:
        """All but the first."""
        return [*self.candidates, *([self.last] if self.last else [])]


def next_node(remaining: Sequence[N], dead: Callable[[Node], bool], leader: Callable[[Kind], str]) -> N:
    """The node of a roll whose turn it is: of the first kind that is left, one without a process, else no leader.

    `remaining` must not be empty. `dead` and `leader` ask the running cluster, and only about that kind.
    """
    return next_turn(remaining, dead, leader, ONE_BY_ONE).first


def next_turn(
    remaining: Sequence[N], dead: Callable[[Node], bool], leader: Callable[[Kind], str], at_once: AtOnce
) -> Turn[N]:
    """The same node, with the brokers that may go with it: those of its rack first, the controller's rack at the end.

    With one that has no process go only others without.
    """
    kind = next(kind for kind in _KINDS if any(node.kind is kind for node in remaining))
    nodes = [node for node in remaining if node.kind is kind]
    if len(nodes) == 1:
        return Turn(nodes[0])
    if lost := [node for node in nodes if dead(node)]:
        return _turn(lost, None, at_once)
    name = leader(kind)
    last = next((node for node in nodes if node.name == name), None)
    return _turn([node for node in nodes if node != last], last, at_once)


def _turn(nodes: list[N], last: N | None, at_once: AtOnce) -> Turn[N]:
    if nodes[0].kind is not Kind.BROKER or at_once.most == 1:
        return Turn(nodes[0])
    first, *others = sorted(nodes, key=lambda node: last is not None and _rack(node) == _rack(last))
    near = [node for node in others if _rack(node) == _rack(first)]
    candidates = near if at_once.by_rack else [*near, *(node for node in others if node not in near)]
    fits = len(candidates) == len(others) and (at_once.most is None or len(nodes) < at_once.most)
    if at_once.by_rack and last:
        fits = fits and _rack(first) == _rack(last)
    return Turn(first, tuple(candidates), last if fits else None)


def _rack(node: Node) -> str:
    return node.rack if isinstance(node, Broker) else ""


def start_stages(nodes: Sequence[Node]) -> list[list[Node]]:
    """The nodes in groups that start together, in the order of a start; a stop takes them in reverse."""
    stages = [[node for node in nodes if node.kind in kinds] for kinds in _STAGES]
    return [stage for stage in stages if stage]
