"""The rules of the gates: answers of the cluster in, reasons to wait out. Pure."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

from kcluster.clients.zookeeper import NoQuorumError
from kcluster.errors import KclusterError
from kcluster.model.ensemble import Ensemble
from kcluster.model.reason import Reason
from kcluster.results import few
from kcluster.rollout.starting import StartingError

if TYPE_CHECKING:
    from kcluster.clients.kafka.topics import Partition, TopicState
    from kcluster.clients.wire import QuorumState
    from kcluster.model.quorum import Quorum

_NO_SPARE_REPLICA = "partitions without a spare replica (replicas <= min.insync.replicas)"
_NO_REPLICA_TO_LOSE = "kcluster topic describe -i INV --at-min-isr --under-min-isr"
_ONE_BY_ONE = "stop one broker at a time, and start it again before the next"


@dataclass(frozen=True)
class ClusterView:
    """The cluster as one broker knows it."""

    broker: int
    brokers: frozenset[int]
    controller: int
    """-1 for none; with KRaft any broker."""
    topics: Mapping[str, TopicState]


# The metadata quorum: ZooKeeper servers or controllers.


def majority_lost(metadata: Ensemble | Quorum, stopping: Collection[str]) -> Iterator[Reason]:
    """That the remaining nodes of the metadata quorum would be no majority, which no waiting changes."""
    if isinstance(metadata, Ensemble) and metadata.too_few == 1:
        return
    names = [node.name for node in metadata.nodes]
    stopped = [name for name in names if name in stopping]
    if stopped and (len(names) - len(stopped)) * 2 <= len(names):
        kind = "ZooKeeper servers" if isinstance(metadata, Ensemble) else "controllers"
        tolerated = (len(names) - 1) // 2
        again = "it" if tolerated == 1 else "them"
        one_by_one = f"stop at most {tolerated} at a time, and start {again} again before the next"
        too_few = f"3 {kind} tolerate the loss of one, {len(names)} {'does' if len(names) == 1 else 'do'} not"
        text = f"without {', '.join(stopped)} there is no majority of {len(names)} {kind}"
        yield Reason(text, remedy=one_by_one if tolerated else too_few)


def ensemble_without(
    stopping: Collection[str], answers: Mapping[str, Mapping[str, str] | KclusterError]
) -> Iterator[Reason]:
    """Why some ZooKeeper servers may not stop: all others must serve, and be in sync with one leader."""
    for name, answer in answers.items():
        if name not in stopping:
            yield from server_down(name, answer)
    leading = leaders(answers)
    serving = [name for name, answer in answers.items() if not list(server_down(name, answer))]
    if len(answers) > 1 and len(leading) != 1:
        several = f"{len(leading)} ZooKeeper servers are leader: {', '.join(leading)}"
        yield Reason(several if leading else "no ZooKeeper server leads")
    for name in leading:
        answer = answers[name]
        assert not isinstance(answer, KclusterError)
        synced = int(float(answer.get("zk_synced_followers", "0")))
        if synced < len(serving) - 1:
            yield Reason(f"{synced} of {len(serving) - 1} followers are in sync with {name}")


def server_down(name: str, answer: Mapping[str, str] | KclusterError) -> Iterator[Reason]:
    """Why a ZooKeeper server does not serve; nothing when it does."""
    if isinstance(answer, KclusterError):
        yield Reason(f"{name} does not serve ({answer.message})", progress=_progress(answer))
    elif answer.get("zk_server_state") not in ("leader", "follower", "standalone"):
        yield Reason(f"{name} does not serve ({answer.get('zk_server_state', 'unknown state')})")


def leaders(answers: Mapping[str, Mapping[str, str] | KclusterError]) -> list[str]:
    """The names of the ZooKeeper servers that are leader."""
    return [
        name
        for name, answer in answers.items()
        if not isinstance(answer, KclusterError) and answer.get("zk_server_state") == "leader"
    ]


def quorum_lost(answers: Mapping[str, Mapping[str, str] | KclusterError]) -> Iterator[Reason]:
    """That ZooKeeper has no quorum, as a server says that runs and does not serve."""
    serving = [name for name, answer in answers.items() if not isinstance(answer, KclusterError)]
    if not serving and any(isinstance(answer, NoQuorumError) for answer in answers.values()):
        yield Reason("the ZooKeeper quorum is lost: brokers serve on, metadata cannot change")


def leader_time(state: QuorumState) -> int:
    """The leader's clock in milliseconds when it answered: it has always caught up with itself."""
    return max((voter.last_caught_up_ms or 0 for voter in state.voters), default=0)


def quorum_without(
    stopping: Collection[str], names: Mapping[int, str], state: QuorumState | KclusterError, since: int
) -> Iterator[Reason]:
    """Why some controllers may not stop: all others must have caught up with the leader since the time `since`.

    That one had caught up a second before is not enough: it may have been restarted in that second.
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
        if name in stopping or number == state.leader:
            continue
        if voter is None:
            yield Reason(f"{name} is not a voter of the quorum")
        elif voter.last_caught_up_ms is None or voter.last_caught_up_ms < since:
            yield Reason(f"{name} is behind controller-{state.leader}")


# Brokers.


def brokers_missing(stopping: Collection[int], views: Mapping[int, ClusterView | KclusterError]) -> Iterator[Reason]:
    """Which of the other brokers are missing: each must answer, and be registered with all."""
    remaining = {number: view for number, view in views.items() if number not in stopping}
    available = [view for view in views.values() if isinstance(view, ClusterView)]
    for number, view in remaining.items():
        if not isinstance(view, ClusterView):
            yield Reason(f"broker-{number} does not answer ({view.message})", progress=_progress(view))
        elif unaware := [f"broker-{known.broker}" for known in available if number not in known.brokers]:
            yield Reason(f"broker-{number} is not registered according to {few(unaware)}")
    if not available:
        yield Reason("no broker answers, so the state of the partitions is unknown")


def too_few_replicas(
    stopping: Collection[int], views: Iterable[ClusterView], min_isr: Mapping[str, int | None]
) -> list[Reason]:
    """The partitions that would stay below min.insync.replicas even with every replica in sync."""
    views = list(views)

    def without(brokers: Collection[int]) -> tuple[str, ...]:
        return _partitions(views, brokers, lambda name, part: _left(part.replicas, brokers) < (min_isr.get(name) or 1))

    single = tuple(sorted({name for broker in stopping for name in without({broker})}))
    together = tuple(name for name in without(stopping) if name not in single)
    names = " and ".join(f"broker-{number}" for number in sorted(stopping))
    return [
        reason
        for reason in (
            Reason(_NO_SPARE_REPLICA, single, "give these topics more replicas", _NO_REPLICA_TO_LOSE),
            Reason(f"{names} together hold too many replicas of these partitions", together, _ONE_BY_ONE),
        )
        if reason.partitions
    ]


def isr_at_risk(
    stopping: Collection[int],
    views: Sequence[ClusterView],
    min_isr: Mapping[str, int | None],
    *,
    unsafe_partitions: bool,
) -> Iterator[Reason]:
    """The partitions whose in-sync replicas would fall below min.insync.replicas now.

    With `unsafe_partitions`, one that can never have enough needs all the replicas it can have.
    """
    if unreadable := tuple(sorted(topic for topic, value in min_isr.items() if value is None)):
        yield Reason("no permission to read min.insync.replicas of these topics", unreadable)

    def short(name: str, part: Partition) -> bool:
        needed = min_isr.get(name) or 1
        possible = _left(part.replicas, stopping)
        return _left(part.isr, stopping) < (min(needed, possible) if unsafe_partitions else needed)

    if risky := _partitions(views, stopping, short):
        text = "in-sync replicas would fall below min.insync.replicas"
        yield Reason(text, risky, listing=_NO_REPLICA_TO_LOSE if len(stopping) == 1 else "")


def fetches(
    stopping: Collection[int], views: Iterable[ClusterView], candidates: Collection[int] = ()
) -> set[tuple[int, int]]:
    """The in-sync followers that a stop relies on, each with its leaders; candidates may stop too."""
    concerned = {*stopping, *candidates}
    return {
        (follower, part.leader)
        for view in views
        for topic in view.topics.values()
        for part in topic.partitions
        if concerned.intersection(part.replicas) and part.leader is not None
        for follower in part.isr
        if follower != part.leader and follower not in stopping
    }


def without_silent(view: ClusterView, silences: Collection[tuple[int, int]]) -> ClusterView:
    """The view with those in-sync replicas only that fetch: a follower that is cut off is listed for 30 s longer."""
    if not silences:
        return view

    def fetched(part: Partition) -> Partition:
        isr = tuple(number for number in part.isr if (number, part.leader) not in silences)
        return replace(part, isr=isr)

    topics = {
        name: replace(topic, partitions=tuple(map(fetched, topic.partitions))) for name, topic in view.topics.items()
    }
    return replace(view, topics=topics)


def silent(silences: Mapping[tuple[int, int], float | None]) -> Iterator[Reason]:
    """The followers that are listed in the ISR and do not fetch."""
    for (follower, leader), seconds in sorted(silences.items()):
        since = "has no connection to" if seconds is None else f"received nothing for {seconds:.0f} s from"
        yield Reason(f"broker-{follower} {since} broker-{leader}, which it must follow")


def not_back(broker: int, own: ClusterView | KclusterError, others: Sequence[ClusterView]) -> Iterator[Reason]:
    """Why a broker is not yet back: it must answer, be registered, and lead or follow each of its partitions."""
    if isinstance(own, KclusterError):
        why = f" ({own.message})" if isinstance(own, StartingError) else ""
        yield Reason(f"broker-{broker} does not answer yet{why}", progress=_progress(own))
        return
    if unaware := [f"broker-{view.broker}" for view in (own, *others) if broker not in view.brokers]:
        yield Reason(f"broker-{broker} is not registered yet according to {few(unaware)}")
    if behind := tuple(sorted({name for view in (own, *others) for name in _behind(broker, view)})):
        text = f"broker-{broker} has not caught up with these partitions"
        yield Reason(text, behind, listing="kcluster topic describe -i INV --under-replicated")
    if leaderless := tuple(sorted({name for view in (own, *others) for name in _leaderless(broker, view)})):
        text = f"partitions of broker-{broker} have no leader yet"
        yield Reason(text, leaderless, listing="kcluster topic describe -i INV --offline")
    known = set(_partitions_on(own, {broker}))
    if unknown := tuple(sorted({name for view in others for name in _partitions_on(view, {broker})} - known)):
        yield Reason(f"broker-{broker} does not know these partitions of its own yet", unknown)


def topics_on(views: Iterable[ClusterView], brokers: Collection[int]) -> list[TopicState]:
    """The topics that have a replica on these brokers."""
    return list(
        {
            name: topic
            for view in views
            for name, topic in view.topics.items()
            if any(set(part.replicas) & set(brokers) for part in topic.partitions)
        }.values()
    )


def _progress(answer: KclusterError) -> str:
    return answer.progress if isinstance(answer, StartingError) else ""


def _left(replicas: Collection[int], stopping: Collection[int]) -> int:
    return len(set(replicas) - set(stopping))


def _partitions(
    views: Iterable[ClusterView], stopping: Collection[int], short: Callable[[str, Partition], bool]
) -> tuple[str, ...]:
    """The partitions of the stopping brokers that are short of replicas, as at least one broker sees it."""
    names = {
        f"{name}-{part.id}"
        for view in views
        for name, topic in view.topics.items()
        for part in topic.partitions
        if set(part.replicas) & set(stopping) and short(name, part)
    }
    return tuple(sorted(names))


def _partitions_on(view: ClusterView, brokers: Collection[int]) -> Iterator[str]:
    for name, topic in view.topics.items():
        yield from (f"{name}-{part.id}" for part in topic.partitions if set(part.replicas) & set(brokers))


def _behind(broker: int, view: ClusterView) -> Iterator[str]:
    for name, topic in view.topics.items():
        yield from (
            f"{name}-{part.id}" for part in topic.partitions if broker in part.replicas and broker not in part.isr
        )


def _leaderless(broker: int, view: ClusterView) -> Iterator[str]:
    for name, topic in view.topics.items():
        yield from (f"{name}-{part.id}" for part in topic.partitions if broker in part.replicas and part.leader is None)
