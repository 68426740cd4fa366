"""The judgement of the gates: answers in, reasons to wait out; nothing is asked here."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

from kcluster.errors import KclusterError
from kcluster.model.ensemble import Ensemble
from kcluster.model.reason import Reason

if TYPE_CHECKING:
    from kcluster.clients.kafka.topics import Partition, TopicState
    from kcluster.clients.wire import QuorumState
    from kcluster.model.quorum import Quorum

_NO_COPY = "these partitions have no copy to spare (replicas <= min.insync.replicas)"
_ONE_BY_ONE = "stop one broker at a time, and start it again before the next"


@dataclass(frozen=True)
class ClusterView:
    """The cluster as one broker knows it."""

    broker: int
    brokers: frozenset[int]
    controller: int
    """-1 for none; with KRaft any broker."""
    topics: Mapping[str, TopicState]


# ZooKeeper and the controllers.


def majority_lost(metadata: Ensemble | Quorum, leaving: Collection[str]) -> Iterator[Reason]:
    """That too few would be left, which no waiting changes."""
    every = [node.name for node in metadata.nodes]
    gone = [name for name in every if name in leaving]
    if gone and (len(every) - len(gone)) * 2 <= len(every):
        kind = "ZooKeeper servers" if isinstance(metadata, Ensemble) else "controllers"
        spare = (len(every) - 1) // 2
        remedy = f"stop at most {spare} at a time, and start {'it' if spare == 1 else 'them'} again before the next"
        few = f"3 {kind} can do without one, {len(every)} cannot"
        text = f"without {', '.join(gone)} there is no majority of {len(every)} {kind}"
        yield Reason(text, remedy=remedy if spare else few)


def ensemble_without(
    leaving: Collection[str], answers: Mapping[str, Mapping[str, str] | KclusterError]
) -> Iterator[Reason]:
    """Why some servers may not leave the others alone: all of these must serve, and be level with one leader."""
    for name, answer in answers.items():
        if name not in leaving:
            yield from server_silent(name, answer)
    leading = leaders(answers)
    serving = [name for name, answer in answers.items() if not list(server_silent(name, answer))]
    if len(answers) > 1 and len(leading) != 1:
        yield Reason(f"{len(leading)} servers say that they lead: {', '.join(leading)}" if leading else "nobody leads")
    for name in leading:
        answer = answers[name]
        assert not isinstance(answer, KclusterError)
        synced = int(float(answer.get("zk_synced_followers", "0")))
        if synced < len(serving) - 1:
            yield Reason(f"{synced} of {len(serving) - 1} followers are level with {name}")


def server_silent(name: str, answer: Mapping[str, str] | KclusterError) -> Iterator[Reason]:
    """Why a ZooKeeper server does not serve."""
    if isinstance(answer, KclusterError):
        yield Reason(f"{name} does not serve ({answer.message})")
    elif answer.get("zk_server_state") not in ("leader", "follower", "standalone"):
        yield Reason(f"{name} does not serve ({answer.get('zk_server_state', 'unknown state')})")


def leaders(answers: Mapping[str, Mapping[str, str] | KclusterError]) -> list[str]:
    """The servers that say they lead."""
    return [
        name
        for name, answer in answers.items()
        if not isinstance(answer, KclusterError) and answer.get("zk_server_state") == "leader"
    ]


def now_of(state: QuorumState) -> int:
    """The leader's clock when it answered: it is always level with itself."""
    return max((voter.last_caught_up_ms or 0 for voter in state.voters), default=0)


def quorum_without(
    leaving: Collection[str], names: Mapping[int, str], state: QuorumState | KclusterError, since: int
) -> Iterator[Reason]:
    """Why some controllers may not leave the others alone: all of these must have been level with the leader since.

    That one was level a second before says little: it may have been restarted in that second.
    """
    if isinstance(state, KclusterError):
        yield Reason(state.message)
        return
    if state.leader < 0:
        yield Reason("no controller leads")
        return
    voters = {voter.id: voter for voter in state.voters}
    for number, name in names.items():
        voter = voters.get(number)
        if name in leaving or number == state.leader:
            continue
        if voter is None:
            yield Reason(f"{name} is not among the voters")
        elif voter.last_caught_up_ms is None or voter.last_caught_up_ms < since:
            yield Reason(f"{name} is behind controller-{state.leader}")


# Brokers.


def brokers_missing(leaving: Collection[int], views: Mapping[int, ClusterView | KclusterError]) -> Iterator[Reason]:
    """Which of the other brokers are not there: each must answer, and be known to all."""
    staying = {number: view for number, view in views.items() if number not in leaving}
    told = [view for view in views.values() if isinstance(view, ClusterView)]
    for number, view in staying.items():
        if not isinstance(view, ClusterView):
            yield Reason(f"broker-{number} does not answer ({view.message})")
        elif strangers := [f"broker-{known.broker}" for known in told if number not in known.brokers]:
            yield Reason(f"broker-{number} is not registered, say {', '.join(strangers)}")
    if not told:
        yield Reason("no broker can be asked about its partitions")


def too_few_copies(
    leaving: Collection[int], views: Iterable[ClusterView], least: Mapping[str, int | None]
) -> list[Reason]:
    """The partitions that would have too few copies even with every copy in sync."""
    views = list(views)

    def without(brokers: Collection[int]) -> tuple[str, ...]:
        return _partitions(views, brokers, lambda name, part: _left(part.replicas, brokers) < (least.get(name) or 1))

    alone = tuple(sorted({name for broker in leaving for name in without({broker})}))
    together = tuple(name for name in without(leaving) if name not in alone)
    names = " and ".join(f"broker-{number}" for number in sorted(leaving))
    return [
        reason
        for reason in (
            Reason(_NO_COPY, alone, "give these topics more replicas"),
            Reason(f"{names} together hold too many copies of these partitions", together, _ONE_BY_ONE),
        )
        if reason.partitions
    ]


def copies_at_risk(
    leaving: Collection[int], views: Sequence[ClusterView], least: Mapping[str, int | None], *, unsafe_too: bool
) -> Iterator[Reason]:
    """The partitions that would have too few copies in sync now; of hopeless ones, all they can have must be."""
    if secret := tuple(sorted(topic for topic, value in least.items() if value is None)):
        yield Reason("min.insync.replicas of these topics may not be read", secret)

    def short(name: str, part: Partition) -> bool:
        needed = least.get(name) or 1
        possible = _left(part.replicas, leaving)
        return _left(part.isr, leaving) < (min(needed, possible) if unsafe_too else needed)

    if risky := _partitions(views, leaving, short):
        yield Reason("too few copies would be in sync", risky)


def not_back(broker: int, own: ClusterView | KclusterError, others: Sequence[ClusterView]) -> Iterator[Reason]:
    """Why a broker is not yet back: it answers, all know it, and it leads or follows each of its partitions."""
    if isinstance(own, KclusterError):
        yield Reason(f"broker-{broker} does not answer yet")
        return
    if strangers := [f"broker-{view.broker}" for view in (own, *others) if broker not in view.brokers]:
        yield Reason(f"broker-{broker} is not registered yet, say {', '.join(strangers)}")
    if behind := tuple(sorted({name for view in (own, *others) for name in _behind(broker, view)})):
        yield Reason("it has not caught up with these partitions", behind)
    if unled := tuple(sorted({name for view in (own, *others) for name in _unled(broker, view)})):
        yield Reason("these partitions of it have no leader yet", unled)
    known = set(_of(own, {broker}))
    if unheard := tuple(sorted({name for view in others for name in _of(view, {broker})} - known)):
        yield Reason("it has not heard of these partitions of its own", unheard)


def held(views: Iterable[ClusterView], brokers: Collection[int]) -> list[TopicState]:
    """The topics of which these brokers hold a partition."""
    return list(
        {
            name: topic
            for view in views
            for name, topic in view.topics.items()
            if any(set(part.replicas) & set(brokers) for part in topic.partitions)
        }.values()
    )


def _left(copies: Collection[int], leaving: Collection[int]) -> int:
    return len(set(copies) - set(leaving))


def _partitions(
    views: Iterable[ClusterView], leaving: Collection[int], short: Callable[[str, Partition], bool]
) -> tuple[str, ...]:
    """The partitions of the leaving brokers that are short of copies, as at least one broker sees it."""
    found = {
        f"{name}-{part.id}"
        for view in views
        for name, topic in view.topics.items()
        for part in topic.partitions
        if set(part.replicas) & set(leaving) and short(name, part)
    }
    return tuple(sorted(found))


def _of(view: ClusterView, brokers: Collection[int]) -> Iterator[str]:
    for name, topic in view.topics.items():
        yield from (f"{name}-{part.id}" for part in topic.partitions if set(part.replicas) & set(brokers))


def _behind(broker: int, view: ClusterView) -> Iterator[str]:
    for name, topic in view.topics.items():
        yield from (
            f"{name}-{part.id}" for part in topic.partitions if broker in part.replicas and broker not in part.isr
        )


def _unled(broker: int, view: ClusterView) -> Iterator[str]:
    for name, topic in view.topics.items():
        yield from (f"{name}-{part.id}" for part in topic.partitions if broker in part.replicas and part.leader is None)
