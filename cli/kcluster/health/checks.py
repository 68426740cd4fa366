"""The checks of `kcluster health`, one pure function each: facts in, check out."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import TYPE_CHECKING

from kcluster.errors import KclusterError
from kcluster.model.running import ProcessState
from kcluster.results import Check, counted, few

if TYPE_CHECKING:
    from kcluster.clients.kafka.topics import Partition, TopicState
    from kcluster.clients.wire import QuorumState
    from kcluster.health.cluster_facts import ClusterFacts
    from kcluster.health.questions import Endpoint

LAG_ALLOWED_MS = 5000
"""How long a voter may be behind the leader: ten times the beat with which an idle leader writes."""


def all_checks(facts: ClusterFacts) -> list[Check]:
    """Every question these facts can answer."""
    asked: list[Callable[[ClusterFacts], Check]] = []
    if facts.cluster is not None:
        asked += [nodes_up, *(([leader, followers]) if facts.servers else [quorum_leader, quorum_lag])]
    asked += [brokers_registered, controller, offline, under_replicated, under_min_isr, advertised, cluster_id]
    return [ask(facts) for ask in asked]


def nodes_up(facts: ClusterFacts) -> Check:
    """Every node of the inventory has a process that answers in its own protocol."""
    return _all_answer("nodes up", ((endpoint, _silence(facts, endpoint)) for endpoint in facts.nodes))


def _silence(facts: ClusterFacts, endpoint: Endpoint) -> str:
    """Why a node does not answer, with what its host says of its process; empty when it does."""
    node, reason = endpoint.node, facts.nodes[endpoint]
    state = facts.running.processes.get(node) if facts.running else None
    if state is ProcessState.NONE:
        return f"{node} has no process"
    if not reason or not facts.running or state in (None, ProcessState.UNKNOWN):
        return reason
    if state is ProcessState.STARTING:
        recovery = facts.running.recoveries.get(node)
        return f"{node} is starting{f': {recovery.text}' if recovery and recovery.text else ''}"
    return f"{node} has a process and does not answer: {reason}"


def leader(facts: ClusterFacts) -> Check:
    """Exactly one ZooKeeper server leads; one that is alone may also say that it stands alone."""
    leads = ("leader",) if len(facts.servers) > 1 else ("leader", "standalone")
    found = [name for name, state in facts.servers.items() if state.mode in leads]
    if len(found) == 1:
        return Check("zookeeper leader", True, f"one leader of {len(facts.servers)}", found[0])
    seen = [
        f"{name}: {state.mode or state.problem}" for name, state in facts.servers.items() if state.mode != "follower"
    ]
    lost = "quorum lost, brokers serve on and metadata cannot change; " if facts.zookeeper_lost else ""
    return Check(
        "zookeeper leader", False, f"{lost}expected one leader, observed {len(found)}: {few(seen)}", few(found)
    )


def followers(facts: ClusterFacts) -> Check:
    """All the other ZooKeeper servers are in sync with the leader."""
    name, expected = "zookeeper followers", len(facts.servers) - 1
    if not expected:
        return Check(name, True, "none, one server only")
    leading = [(server, state) for server, state in facts.servers.items() if state.mode == "leader"]
    if not leading:
        return Check(name, False, "no leader, so the synced followers are unknown")
    server, state = leading[0]
    if state.synced is None:
        return Check(name, False, state.problem or "the leader does not report its synced followers", server)
    absent = [other for other, one in facts.servers.items() if one.mode not in ("leader", "follower")]
    return Check(name, state.synced == expected, f"{state.synced} of {expected} in sync", few(absent))


def quorum_leader(facts: ClusterFacts) -> Check:
    """The KRaft quorum has a leader, and it is one of the voters."""
    if isinstance(facts.quorum, KclusterError) or facts.quorum is None:
        return Check(
            "quorum leader", False, facts.quorum.message if facts.quorum else "no controller or broker was asked"
        )
    state = facts.quorum
    known = state.leader in {voter.id for voter in state.voters}
    detail = f"controller {state.leader}, epoch {state.epoch}" if known else "expected a voter as leader, observed none"
    return Check("quorum leader", known, detail, f"controller-{state.leader}" if known else "")


def quorum_lag(facts: ClusterFacts) -> Check:
    """Every voter was level with the leader a moment ago."""
    if isinstance(facts.quorum, KclusterError) or facts.quorum is None:
        return Check("quorum lag", False, "no leader, so the lag is unknown")
    behind = dict(_behind(facts.quorum))
    voters = len(facts.quorum.voters)
    detail = f"{voters - len(behind)} of {voters} voters in sync with the leader"
    if behind:
        lags = (f"controller-{voter} ({counted(lag, 'record')})" for voter, lag in behind.items())
        detail += f"; behind: {few(lags)}"
    return Check("quorum lag", not behind, detail, few(f"controller-{voter}" for voter in behind))


def brokers_registered(facts: ClusterFacts) -> Check:
    """The brokers in the cluster are those of the inventory, as each broker that answers knows them."""
    if isinstance(facts.registered, KclusterError):
        return Check("brokers registered", False, facts.registered.message)
    there = set(facts.registered)
    wanted = {broker.id for broker in facts.cluster.brokers} if facts.cluster else there
    faults = [f"broker-{broker} is missing" for broker in sorted(wanted - there)]
    faults += [f"broker-{broker} is not in the inventory" for broker in sorted(there - wanted)]
    others = {
        endpoint.node: one.brokers
        for endpoint, one in facts.identities.items()
        if not isinstance(one, KclusterError) and one.brokers not in (frozenset(), there)
    }
    faults += [f"{node} knows {few(f'broker-{one}' for one in sorted(known))}" for node, known in others.items()]
    detail = f"{len(wanted & there)} of {len(wanted)}"
    subject = few([*(f"broker-{broker}" for broker in sorted(wanted ^ there)), *others])
    return Check(
        "brokers registered", not faults, "; ".join([detail, *([few(faults, "; ")] if faults else [])]), subject
    )


def controller(facts: ClusterFacts) -> Check:
    """All brokers name the same controller; with KRaft the leader of the quorum is the controller."""
    if facts.quorum is not None:
        return _quorum_controller(facts.quorum)
    seen = {
        endpoint.node: one.controller
        for endpoint, one in facts.identities.items()
        if not isinstance(one, KclusterError)
    }
    found = sorted(set(seen.values()))
    if len(found) == 1 and found[0] >= 0:
        return Check("controller", True, f"one, reported by {counted(len(seen), 'broker')}", f"broker-{found[0]}")
    if facts.cluster is None and len(found) > 1 and -1 not in found:
        # With KRaft each broker names any other; without an inventory we cannot know that it is not.
        return Check("controller", True, "brokers report different ones, as they do with KRaft")
    views = [f"{node} reports {'none' if named < 0 else f'broker-{named}'}" for node, named in seen.items()]
    return Check("controller", False, f"expected one for all, observed: {few(views) or 'no answer'}")


def offline(facts: ClusterFacts) -> Check:
    """Every partition has a leader."""
    return _no_partition("offline partitions", "--offline", facts, lambda topic, part: part.leader is None)


def under_replicated(facts: ClusterFacts) -> Check:
    """Every replica is in sync."""
    return _no_partition(
        "under-replicated partitions", "--under-replicated", facts, lambda topic, part: part.under_replicated
    )


def under_min_isr(facts: ClusterFacts) -> Check:
    """Every partition takes writes with acks=all."""
    if facts.zookeeper_lost:
        unknown = "unknown: without a ZooKeeper quorum brokers do not tell min.insync.replicas"
        return Check("under-min-ISR partitions", False, unknown)
    return _no_partition(
        "under-min-ISR partitions", "--under-min-isr", facts, lambda topic, part: topic.under_min_isr(part)
    )


def advertised(facts: ClusterFacts) -> Check:
    """Every broker answers at each address it advertises."""
    if facts.cluster is None and not facts.advertised:
        return Check("advertised addresses", False, "no broker answers with its addresses")
    moved = list(_moved(facts))
    check = _all_answer("advertised addresses", facts.advertised.items())
    return Check(check.name, False, "; ".join([check.detail, *moved]), check.subject) if moved else check


def cluster_id(facts: ClusterFacts) -> Check:
    """All nodes belong to one cluster."""
    ids: dict[str, list[str]] = {}
    for node, one in _cluster_ids(facts):
        ids.setdefault(one, []).append(node)
    if len(ids) == 1:
        ((one, nodes),) = ids.items()
        return Check("cluster id", True, f"{one} on {len(nodes)} of {len(nodes)} that answer")
    views = [f"{one} on {few(nodes)}" for one, nodes in sorted(ids.items(), key=lambda pair: -len(pair[1]))]
    return Check("cluster id", False, f"expected one, observed {len(ids)}{': ' + '; '.join(views) if views else ''}")


def _all_answer(name: str, answers: Iterable[tuple[Endpoint, str]]) -> Check:
    told = list(answers)
    silent = [(endpoint, reason) for endpoint, reason in told if reason]
    detail = f"{len(told) - len(silent)} of {len(told)} answer"
    if silent:
        detail += f"; {few(reason for _, reason in silent)}"
    return Check(name, not silent, detail, few(dict.fromkeys(_named(endpoint) for endpoint, _ in silent)))


def _named(endpoint: Endpoint) -> str:
    return f"{endpoint.node} {endpoint.listener}".strip()


def _behind(state: QuorumState) -> Iterator[tuple[int, int]]:
    """The voters that are not level with the leader, and by how many records."""
    times = {voter.id: voter.last_caught_up_ms for voter in state.voters}
    ends = {voter.id: voter.log_end_offset for voter in state.voters}
    now = times.get(state.leader)
    for voter, seen in times.items():
        if voter != state.leader and (seen is None or (now is not None and now - seen > LAG_ALLOWED_MS)):
            yield voter, max(0, ends.get(state.leader, 0) - max(0, ends[voter]))


def _quorum_controller(state: QuorumState | KclusterError) -> Check:
    if isinstance(state, KclusterError):
        return Check("controller", False, f"expected one, observed none: {state.message}")
    return Check("controller", state.leader >= 0, "one, the leader of the quorum", f"controller-{state.leader}")


def _no_partition(name: str, option: str, facts: ClusterFacts, bad: Callable[[TopicState, Partition], bool]) -> Check:
    """No partition is bad; `option` is that of `kcluster topic describe` which shows all that are."""
    if isinstance(facts.topics, KclusterError):
        return Check(name, False, f"unknown: {facts.topics.message}")
    total = sum(len(topic.partitions) for topic in facts.topics)
    found = [(topic, part) for topic in facts.topics for part in topic.partitions if bad(topic, part)]
    words = tuple(f"{topic.name}-{part.id}{_without(part)}" for topic, part in found)
    shown = few(words)
    detail = f"{len(found)} of {total}" + (f": {shown}" if found else "")
    detail += f" (all: kcluster topic describe {option})" if shown != ", ".join(words) else ""
    missing = sorted({broker for _, part in found for broker in set(part.replicas) - set(part.isr)})
    return Check(name, not found, detail, few(f"broker-{broker}" for broker in missing), items=words)


def _without(part: Partition) -> str:
    missing = [str(broker) for broker in part.replicas if broker not in part.isr]
    return f" (without {' '.join(missing)})" if missing else ""


def _moved(facts: ClusterFacts) -> Iterator[str]:
    """Brokers that tell clients another address than the inventory says."""
    if facts.cluster is None or isinstance(facts.registered, KclusterError):
        return
    running = facts.running.cluster if facts.running else facts.cluster
    for broker, started in zip(facts.cluster.brokers, running.brokers, strict=True):
        told = facts.registered.get(broker.id)
        known: Sequence[str] = [listener.address for listener in broker.listeners]
        if told is not None and told not in (*known, *(listener.address for listener in started.listeners)):
            yield f"{broker.name} advertises {told}, the inventory has {', '.join(known)}"


def _cluster_ids(facts: ClusterFacts) -> Iterator[tuple[str, str]]:
    for endpoint, one in facts.identities.items():
        if not isinstance(one, KclusterError):
            yield endpoint.node, one.cluster
    for endpoint, told in facts.controller_clusters.items():
        if isinstance(told, str):
            yield endpoint.node, told
