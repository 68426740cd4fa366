"""`plan`: validate, look at every host, ask the cluster who leads, and say what provision would change."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, TypeVar

from kcluster import inventory
from kcluster import plan as planning
from kcluster.errors import KclusterError, UnreachableError, UsageError
from kcluster.inventory import doubts
from kcluster.model.broker import Broker
from kcluster.model.node import Kind
from kcluster.model.quorum import Quorum
from kcluster.operations import masters
from kcluster.operations.looking import look_at_all
from kcluster.operations.status.roles import roles
from kcluster.operations.validate import judge
from kcluster.plan import Plan, Roles

if TYPE_CHECKING:
    from kcluster.clients.kafka import Kafka
    from kcluster.clients.ssh import Connections
    from kcluster.inventory import Loaded
    from kcluster.model.cluster import Cluster
    from kcluster.model.node import Node
    from kcluster.model.observed import HostSeen

T = TypeVar("T")

_OVERRIDES_WITHIN = 2.0


def accepted(loaded: Loaded) -> Cluster:
    """The cluster of an inventory on hosts, once every rule was asked; refused with all errors at once."""
    cluster, findings = inventory.cluster_from(loaded.data, loaded.name)
    findings += doubts.doubts(loaded.data)
    if cluster:
        findings += judge(cluster)
    cluster = inventory.refuse(loaded, cluster, findings)
    if cluster.local:
        raise UsageError(
            f"{cluster.name} is a cluster on this machine, not on hosts",
            resolution=f"kcluster up -i {loaded.path}; it says what it does",
        )
    return cluster


def plan(cluster: Cluster, hosts: Connections, kafka: Kafka) -> Plan:
    """What provision would change; nothing is changed."""
    return whole(cluster, hosts, kafka)


def whole(cluster: Cluster, hosts: Connections, kafka: Kafka, only: Sequence[str] | None = None) -> Plan:
    """The plans of all parts of the cluster as one, for these hosts or for all."""
    kafkas, *sparks = map(seen_all, look_at_all(cluster.parts, hosts, only=only))
    plans = [of(cluster, kafkas, kafka)]
    for seen in sparks:
        assert cluster.engine
        plans.append(planning.plan(cluster.engine, seen, Roles(spark_leader=masters.leader(cluster.engine))))
    return planning.joined(plans)


def of(cluster: Cluster, seen: Mapping[str, HostSeen], kafka: Kafka) -> Plan:
    """The plan that follows from what was seen, and from what the cluster itself says if it runs."""
    alive = [node for node in cluster.nodes if node.host.name in seen and _runs(seen[node.host.name], node)]
    found = roles(cluster, alive)
    # A broker that still starts is not waited for.
    serving = [node for node in alive if isinstance(node, Broker) and node.name in found]
    told, unknown = _overrides(kafka, serving)
    notes = tuple(f"what {name} was told while it runs is not known: {why}" for name, why in unknown.items())
    made = planning.plan(cluster, _with_overrides(seen, told), in_charge(found), _cluster_id(cluster, seen, kafka))
    return replace(made, notes=(*made.notes, *notes))


def seen_all(answers: Mapping[str, T | KclusterError]) -> dict[str, T]:
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


def _cluster_id(cluster: Cluster, seen: Mapping[str, HostSeen], kafka: Kafka) -> str:
    """The id that brokers outside of this run tell, because with ZooKeeper the inventory has none.

    Those within are not asked: at a wrong address a broker of another cluster would answer for itself.
    """
    others = cluster.on_hosts({host.name for host in cluster.hosts} - seen.keys()).brokers
    if isinstance(cluster.metadata, Quorum) or not others or not any(map(_has_data, seen.values())):
        return ""
    protocol = kafka.config.get("security.protocol", "PLAINTEXT")
    try:
        found = replace(kafka, bootstrap=",".join(one.listener_for(protocol).address for one in others)).metadata()
    except KclusterError:  # it does not run: what the disks say has to do
        return ""
    return found.cluster_id or ""


def _has_data(host: HostSeen) -> bool:
    return any(path.meta for node in host.nodes.values() for path in node.directories.values())


def _runs(host: HostSeen, node: Node) -> bool:
    return node.name in host.nodes and host.nodes[node.name].unit.running


def _with_overrides(seen: Mapping[str, HostSeen], told: Mapping[str, Mapping[str, str]]) -> dict[str, HostSeen]:
    return {
        name: replace(
            host,
            nodes={node: replace(found, overrides=told.get(node, {})) for node, found in host.nodes.items()},
        )
        for name, host in seen.items()
    }


def _overrides(kafka: Kafka, brokers: list[Broker]) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
    """What each broker was told over the wire, by its name; and of the others why nobody knows."""
    unknown = {one.name: "its listener asks for credentials" for one in brokers if one.internal.protocol != "PLAINTEXT"}
    asked = {one.id: one.name for one in brokers if one.name not in unknown}
    if not asked:
        return {}, unknown
    from kcluster.clients.kafka.brokers import overrides

    try:
        told = overrides(kafka, list(asked), within=_OVERRIDES_WITHIN)
    except KclusterError as problem:
        return {}, unknown | dict.fromkeys(asked.values(), problem.message)
    return {asked[number]: values for number, values in told.items()}, unknown
