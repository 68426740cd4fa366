"""`plan`: validate, look at every host, ask the cluster who leads, and say what provision would change."""

from __future__ import annotations

from collections.abc import Collection, Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from kcluster import plan as planning
from kcluster.errors import KclusterError, UnreachableError, UsageError
from kcluster.facts import spark_masters
from kcluster.facts.hosts import observe_parts
from kcluster.facts.node_roles import roles
from kcluster.model.broker import Broker
from kcluster.model.client import protocol_of
from kcluster.model.node import Kind
from kcluster.model.quorum import Quorum
from kcluster.model.topic_change import TopicAction, TopicChange
from kcluster.operations import validate
from kcluster.plan import Plan, Roles

if TYPE_CHECKING:
    from kcluster.clients.kafka import Kafka
    from kcluster.clients.ssh import Connections, Login
    from kcluster.inventory import Loaded
    from kcluster.model.cluster import Cluster
    from kcluster.model.node import Node
    from kcluster.model.observed import ObservedHost
    from kcluster.model.topic import Topic

T = TypeVar("T")

_ANSWER_WITHIN = 4.0
"""Seconds for each question to the brokers: a plan that knows less is better than one that hangs."""


def validated(loaded: Loaded) -> Cluster:
    """The cluster of an inventory on hosts; InventoryError when a rule refuses it, UsageError for a local cluster."""
    cluster = validate.accepted(loaded)
    if cluster.local:
        raise UsageError(
            f"{cluster.name} is a cluster on this machine, not on hosts",
            resolution=f"kcluster up -i {loaded.path}",
        )
    return cluster


def plan(cluster: Cluster, kafka: Kafka, logins: Mapping[str, Login]) -> Plan:
    """What provision would change on all hosts; nothing is changed, and a host that does not answer is an error."""
    from kcluster.clients.ssh import Connections

    with Connections(logins) as hosts:
        return whole(cluster, hosts, kafka)


def whole(cluster: Cluster, hosts: Connections, kafka: Kafka, only: Sequence[str] = ()) -> Plan:
    """The plans of all parts of the cluster as one: for all hosts, or for only these and then without topics."""
    kafkas, *sparks = map(answers_of_all, observe_parts(cluster.parts, hosts, only=only or None))
    plans = [of(cluster, kafkas, kafka, topics_too=not only)]
    for seen in sparks:
        assert cluster.engine
        plans.append(planning.plan(cluster.engine, seen, Roles(spark_leader=spark_masters.leader(cluster.engine))))
    return planning.joined(plans)


def of(cluster: Cluster, seen: Mapping[str, ObservedHost], kafka: Kafka, *, topics_too: bool = True) -> Plan:
    """The plan that follows from what was seen, and from what the cluster itself says if it runs."""
    alive = [node for node in cluster.nodes if node.host.name in seen and _runs(seen[node.host.name], node)]
    found = roles(cluster, alive)
    # A broker that still starts is not waited for.
    serving = [node for node in alive if isinstance(node, Broker) and node.name in found]
    told, unknown = _overrides(kafka, serving)
    cluster_id = _cluster_id(cluster, seen, kafka)
    made = planning.plan(cluster, _with_overrides(seen, told, unknown), in_charge(found), cluster_id)
    silent = {name: why for name, why in unknown.items() if isinstance(why, UnreachableError)}
    asked = [broker for broker in serving if broker.name not in silent]
    topics, doubts = _topics(kafka, cluster.topics if topics_too else (), asked, fresh=made.fresh)
    notes = (f"what {name} was told while it runs is not known: {why.message}" for name, why in unknown.items())
    return replace(made, topics=topics, notes=(*made.notes, *notes, *doubts))


def answers_of_all(answers: Mapping[str, T | KclusterError]) -> dict[str, T]:
    """What every host said, unless a host did not say: then the errors of all such hosts at once."""
    problems = {name: answer for name, answer in answers.items() if isinstance(answer, KclusterError)}
    if not problems:
        return {name: answer for name, answer in answers.items() if not isinstance(answer, KclusterError)}
    first = next((p for p in problems.values() if isinstance(p, UnreachableError)), next(iter(problems.values())))
    if len(problems) == 1:
        raise first
    from kcluster.clients.ssh import ways_out

    ways = ways_out(problems)
    way = next(way for name, way in ways.items() if problems[name] is first)
    others = {name: other for name, other in ways.items() if other != way}
    raise (UnreachableError if isinstance(first, UnreachableError) else type(first))(
        f"{len(problems)} of {len(answers)} hosts do not say how they are: {', '.join(problems)}",
        details="\n".join(line for name, problem in problems.items() for line in _told(problem, others.get(name, ""))),
        resolution=way,
    )


def _told(problem: KclusterError, way_out: str) -> list[str]:
    """A host's problem among others: its own way out is told where the last line of the whole does not tell it."""
    way = [f"  try: {way_out}"] if way_out else []
    return [problem.message, *(f"  {line}" for line in problem.details.splitlines()), *way]


def in_charge(found: Mapping[str, str]) -> Roles:
    """Who goes last, out of what each node is in the cluster."""
    leader, active = (
        next((name for name, role in found.items() if name.startswith(kind) and role == word), None)
        for kind, word in ((Kind.ZOOKEEPER, "leader"), (Kind.CONTROLLER, "leader"))
    )
    controller = next((name for name, role in found.items() if role == "controller"), None)
    return Roles(zookeeper_leader=leader, controller=active or controller)


def _cluster_id(cluster: Cluster, seen: Mapping[str, ObservedHost], kafka: Kafka) -> str:
    """The id that brokers outside of this run tell, because with ZooKeeper the inventory has none.

    Those within are not asked: at a wrong address a broker of another cluster would answer for itself.
    """
    others = cluster.on_hosts({host.name for host in cluster.hosts} - seen.keys()).brokers
    if isinstance(cluster.metadata, Quorum) or not others or not any(map(_has_data, seen.values())):
        return ""
    addresses = (one.listener_for(protocol_of(kafka.config)).address for one in others)
    try:
        found = replace(kafka, bootstrap=",".join(addresses)).metadata(within=_ANSWER_WITHIN)
    except KclusterError:  # it does not run: what the disks say has to do
        return ""
    return found.cluster_id or ""


def _has_data(host: ObservedHost) -> bool:
    return any(path.meta for node in host.nodes.values() for path in node.directories.values())


def _runs(host: ObservedHost, node: Node) -> bool:
    return node.name in host.nodes and host.nodes[node.name].unit.running


def _with_overrides(
    seen: Mapping[str, ObservedHost], told: Mapping[str, Mapping[str, str]], unknown: Collection[str]
) -> dict[str, ObservedHost]:
    def known(node: str) -> Mapping[str, str] | None:
        return None if node in unknown else told.get(node, {})

    return {
        name: replace(host, nodes={node: replace(found, overrides=known(node)) for node, found in host.nodes.items()})
        for name, host in seen.items()
    }


def _overrides(kafka: Kafka, brokers: list[Broker]) -> tuple[dict[str, dict[str, str]], dict[str, KclusterError]]:
    """What each broker was told over the wire, by its name; and of the others why nobody knows."""
    protocol = protocol_of(kafka.config)
    asked = {one.id: one.name for one in brokers if one.listener_for(protocol).protocol == protocol}
    unknown: dict[str, KclusterError] = {
        one.name: UnreachableError(f"it has no listener for {protocol}; kafka_client_properties say how clients log in")
        for one in brokers
        if one.id not in asked
    }
    if not asked:
        return {}, unknown
    from kcluster.clients.kafka.brokers import overrides

    try:
        told = overrides(kafka, list(asked), within=_ANSWER_WITHIN)
    except KclusterError as problem:
        return {}, unknown | dict.fromkeys(asked.values(), problem)
    return {asked[number]: values for number, values in told.items()}, unknown


def _topics(
    kafka: Kafka, declared: Sequence[Topic], brokers: Sequence[Broker], *, fresh: bool
) -> tuple[tuple[TopicChange, ...] | None, tuple[str, ...]]:
    """The steps to the declared topics, and what stays as it is; None and why where no broker says what is there."""
    if not declared:
        return (), ()
    from kcluster.operations.topic.plan import compare, difference

    if fresh:
        return tuple(difference(declared, {}).steps), ()
    why = "no broker answers"
    if brokers:
        try:
            found = compare(kafka, declared, broker=brokers[0].id, within=_ANSWER_WITHIN)
            return tuple(found.steps), tuple(map(_stays, filter(_declared_otherwise, found.changes)))
        except KclusterError as problem:
            why = problem.message
    return None, (f"the declared topics could not be compared: {why}",)


def _declared_otherwise(change: TopicChange) -> bool:
    return change.action is TopicAction.KEEP and bool(change.after)


def _stays(change: TopicChange) -> str:
    return f"topic {change.topic}: {change.what} stays {change.before}, declared is {change.after}: {change.note}"
