"""`plan`: observe every host and the running cluster, and show what provision would change."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, TypeVar

from kcluster import plan as planning
from kcluster.clients import ports
from kcluster.errors import KclusterError, UnreachableError, UsageError
from kcluster.facts import spark_masters
from kcluster.facts.hosts import observe_parts
from kcluster.facts.node_roles import roles
from kcluster.facts.running import of_hosts
from kcluster.model.broker import Broker
from kcluster.model.client import protocol_of, suited
from kcluster.model.node import Kind
from kcluster.model.quorum import Quorum
from kcluster.model.topic_change import TopicAction, TopicChange
from kcluster.operations import validate
from kcluster.plan import Plan, Refusal, Roles
from kcluster.plan.agreed_plan import AgreedPlan
from kcluster.plan.carried_out import carried_out
from kcluster.rollout.gates import Gates
from kcluster.stages import Stage, stages
from kcluster.stages.ensemble import leaving
from kcluster.stages.refusals import refusals

if TYPE_CHECKING:
    from kcluster.clients.kafka import Kafka
    from kcluster.clients.ssh import Connections, Login
    from kcluster.inventory import Loaded
    from kcluster.model.cluster import Cluster
    from kcluster.model.observed import ObservedHost
    from kcluster.model.topic import Topic

T = TypeVar("T")

_ANSWER_WITHIN = 4.0
"""Seconds for each request to the brokers: a plan that knows less is better than one that hangs."""


def validated(loaded: Loaded) -> Cluster:
    """The cluster of an inventory on hosts; InventoryError when a rule refuses it, UsageError for a local cluster."""
    cluster = validate.accepted(loaded)
    if cluster.local:
        raise UsageError(
            f"{cluster.name} is a cluster on this machine, not on hosts",
            resolution=f"kcluster up -i {loaded.path}",
        )
    return cluster


def plan(
    cluster: Cluster,
    kafka: Kafka,
    logins: Mapping[str, Login],
    *,
    out: Path | None = None,
    exit_code_tells: bool = False,
) -> Plan:
    """What provision would change on all hosts; nothing is changed, and a host that does not answer is an error.

    The plan is written to the file `out` as well, for `provision --plan`.
    """
    from kcluster.clients.ssh import Connections

    with Connections(logins) as hosts:
        _, found = whole(cluster, hosts, kafka)
    if out:
        AgreedPlan.of(found, cluster).write(out)
    return replace(found, exit_code_tells=exit_code_tells)


def whole(cluster: Cluster, hosts: Connections, kafka: Kafka, only: Sequence[str] = ()) -> tuple[Cluster, Plan]:
    """The cluster of the first stage, and the plan of all parts and all stages.

    For all hosts, or for only these and then without topics.
    """
    observed = list(map(answers_of_all, observe_parts(cluster.parts, hosts, only=only or None)))
    first, *rest = stages(of_hosts(cluster, [observed[0]]), cluster)
    plans = [of(first.cluster, observed[0], kafka, topics_too=not only)]
    if engine := first.cluster.engine:
        plans.append(planning.plan(engine, observed[1], Roles(spark_leader=spark_masters.leader(engine))))
    found = replace(planning.joined(plans), title=first.title)
    refused = [*found.refused, *_of_metadata(cluster, first.cluster, observed[0], hosts)]
    if rest:
        # Topics change when all of it has been verified, and are agreed to now.
        *later, last = later_plans(first, rest, observed)
        found = replace(found, topics=(), later=(*later, replace(last, topics=found.topics)))
        refused += [_needs_all(found)] if only else []
    return first.cluster, replace(found, refused=tuple(refused))


def _of_metadata(
    wanted: Cluster, stage: Cluster, observed: Mapping[str, ObservedHost], hosts: Connections
) -> tuple[Refusal, ...]:
    """What is refused of the metadata quorum; the quorum is asked only where a node of it has lost its data."""
    now = of_hosts(wanted, [observed])
    there = [node for node in stage.metadata.nodes if node.host.name in observed]
    blank = {node.name for node in there if not now.runs(node) and node.name not in now.settings}
    with_data = any(node.name in now.settings for node in there)
    others = Gates(stage, hosts=hosts).out_of_sync(blank) if blank and with_data else ()
    alive = {name: host for name, (host, port) in leaving(now, stage).items() if ports.answers(host, port, within=2.0)}
    return refusals(now, wanted, stage, blank, others, alive)


def later_plans(first: Stage, rest: Sequence[Stage], observed: Sequence[Mapping[str, ObservedHost]]) -> Iterator[Plan]:
    """The plans of the later stages, each for hosts as the one before it leaves them."""
    done = first
    for stage in rest:
        observed = [carried_out(part, hosts) for part, hosts in zip(done.cluster.parts, observed, strict=True)]
        plans = [planning.plan(part, hosts, Roles()) for part, hosts in zip(stage.cluster.parts, observed, strict=True)]
        yield replace(planning.joined(plans), title=stage.title)
        done = stage


def _needs_all(plan: Plan) -> Refusal:
    return Refusal(
        f"this change needs {1 + len(plan.later)} stages, each on all hosts of {plan.cluster}",
        "run it without --limit",
    )


def of(cluster: Cluster, observed: Mapping[str, ObservedHost], kafka: Kafka, *, topics_too: bool = True) -> Plan:
    """The plan that follows from observed hosts, and from what the brokers answer if they run."""
    now = of_hosts(cluster, [observed])
    running = [now.node(node) for node in cluster.nodes if now.runs(node)]
    role_of = roles(now.cluster, running)
    # A broker that still starts is not waited for.
    serving = [node for node in running if isinstance(node, Broker) and node.name in role_of]
    kafka = kafka_of(serving, kafka)
    overrides, unknown = _overrides(kafka, serving)
    cluster_id = _cluster_id(cluster, observed, kafka)
    host_plan = planning.plan(cluster, _with_overrides(observed, overrides, unknown), last_nodes(role_of), cluster_id)
    unreachable = {name for name, why in unknown.items() if isinstance(why, UnreachableError)}
    reachable = [broker for broker in serving if broker.name not in unreachable]
    topics, topic_notes = _topics(kafka, cluster.topics if topics_too else (), reachable, fresh=host_plan.fresh)
    notes = (f"dynamic config of {name} is unknown: {why.message}" for name, why in unknown.items())
    return replace(host_plan, topics=topics, notes=(*host_plan.notes, *notes, *topic_notes))


def kafka_of(brokers: Sequence[Broker], kafka: Kafka) -> Kafka:
    """A client of these brokers as they were started: with its protocol, else with the one between them."""
    if not brokers:
        return kafka
    protocol = protocol_of(kafka.config)
    if any(broker.listener_for(protocol).protocol != protocol for broker in brokers):
        protocol = brokers[0].internal.protocol
    addresses = ",".join(broker.listener_for(protocol).address for broker in brokers)
    return replace(kafka, bootstrap=addresses, config=suited(kafka.config, protocol))


def answers_of_all(answers: Mapping[str, T | KclusterError]) -> dict[str, T]:
    """The answers of all hosts; without that of some host, an error that names all such hosts."""
    problems = {name: answer for name, answer in answers.items() if isinstance(answer, KclusterError)}
    if not problems:
        return {name: answer for name, answer in answers.items() if not isinstance(answer, KclusterError)}
    first = next((p for p in problems.values() if isinstance(p, UnreachableError)), next(iter(problems.values())))
    if len(problems) == 1:
        raise first
    from kcluster.clients.ssh import ways_out

    remedies = ways_out(problems)
    remedy = next(remedy for name, remedy in remedies.items() if problems[name] is first)
    others = {name: other for name, other in remedies.items() if other != remedy}
    reached = "reached" if all(isinstance(problem, UnreachableError) for problem in problems.values()) else "inspected"
    raise (UnreachableError if isinstance(first, UnreachableError) else type(first))(
        f"{len(problems)} of {len(answers)} hosts cannot be {reached}: {', '.join(problems)}",
        details="\n".join(line for name, problem in problems.items() for line in _lines(problem, others.get(name, ""))),
        resolution=remedy,
    )


def _lines(problem: KclusterError, remedy: str) -> list[str]:
    """A host's problem among others, with its remedy where that is not the one of the whole error."""
    resolution = [f"  try: {remedy}"] if remedy else []
    return [problem.message, *(f"  {line}" for line in problem.details.splitlines()), *resolution]


def last_nodes(role_of: Mapping[str, str]) -> Roles:
    """The nodes that restart last, out of the role of each node in the cluster."""
    leader, active = (
        next((name for name, role in role_of.items() if name.startswith(kind) and role == "leader"), None)
        for kind in (Kind.ZOOKEEPER, Kind.CONTROLLER)
    )
    controller = next((name for name, role in role_of.items() if role == "controller"), None)
    return Roles(zookeeper_leader=leader, controller=active or controller)


def _cluster_id(cluster: Cluster, observed: Mapping[str, ObservedHost], kafka: Kafka) -> str:
    """The id that brokers outside of this run have, because with ZooKeeper the inventory has none.

    Those of this run are not asked: at a wrong address a broker of another cluster would answer for itself.
    """
    others = cluster.on_hosts({host.name for host in cluster.hosts} - observed.keys()).brokers
    if isinstance(cluster.metadata, Quorum) or not others or not any(map(_has_data, observed.values())):
        return ""
    addresses = (broker.listener_for(protocol_of(kafka.config)).address for broker in others)
    try:
        metadata = replace(kafka, bootstrap=",".join(addresses)).metadata(within=_ANSWER_WITHIN)
    except KclusterError:  # it does not run: then the ids on the disks decide
        return ""
    return metadata.cluster_id or ""


def _has_data(host: ObservedHost) -> bool:
    return any(path.meta for node in host.nodes.values() for path in node.directories.values())


def _with_overrides(
    observed: Mapping[str, ObservedHost], overrides: Mapping[str, Mapping[str, str]], unknown: Collection[str]
) -> dict[str, ObservedHost]:
    def of_node(name: str) -> Mapping[str, str] | None:
        return None if name in unknown else overrides.get(name, {})

    return {
        host: replace(facts, nodes={name: replace(node, overrides=of_node(name)) for name, node in facts.nodes.items()})
        for host, facts in observed.items()
    }


def _overrides(kafka: Kafka, brokers: list[Broker]) -> tuple[dict[str, dict[str, str]], dict[str, KclusterError]]:
    """The dynamic config of each broker by its name; and of the others why it is unknown."""
    protocol = protocol_of(kafka.config)
    names = {broker.id: broker.name for broker in brokers if broker.listener_for(protocol).protocol == protocol}
    no_listener = f"it has no listener for {protocol}; set the client's protocol in kafka_client_properties"
    unknown: dict[str, KclusterError] = {
        broker.name: UnreachableError(no_listener) for broker in brokers if broker.id not in names
    }
    if not names:
        return {}, unknown
    from kcluster.clients.kafka.brokers import overrides

    try:
        configs = overrides(kafka, list(names), within=_ANSWER_WITHIN)
    except KclusterError as problem:
        return {}, unknown | dict.fromkeys(names.values(), problem)
    return {names[number]: config for number, config in configs.items()}, unknown


def _topics(
    kafka: Kafka, declared: Sequence[Topic], brokers: Sequence[Broker], *, fresh: bool
) -> tuple[tuple[TopicChange, ...] | None, tuple[str, ...]]:
    """The changes to the declared topics, and notes on what cannot change; None and why where no broker answers."""
    if not declared:
        return (), ()
    from kcluster.operations.topic.plan import compare, difference

    if fresh:
        return tuple(difference(declared, {}).steps), ()
    why = "no broker answers"
    if brokers:
        try:
            topic_plan = compare(kafka, declared, broker=brokers[0].id, within=_ANSWER_WITHIN)
            return tuple(topic_plan.steps), tuple(map(_unchanged, filter(_cannot_change, topic_plan.changes)))
        except KclusterError as problem:
            why = problem.message
    return None, (f"declared topics cannot be compared: {why}",)


def _cannot_change(change: TopicChange) -> bool:
    return change.action is TopicAction.KEEP and bool(change.after)


def _unchanged(change: TopicChange) -> str:
    return f"topic {change.topic}: {change.what} stays {change.before}, declared is {change.after}: {change.note}"
