"""Another port of the controllers: they listen at both, all nodes ask at the new one, the old one is closed.

The voters are static: every node reads them, with their ports, from its own file. So each controller must listen
wherever some node may look for it, in each mixture of two stages.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial

from kcluster.config.properties import CONTROLLER_LISTENER
from kcluster.facts.started import endpoints
from kcluster.model.cluster import Cluster
from kcluster.model.node import Node
from kcluster.model.quorum import Controller, Quorum
from kcluster.model.running import Running
from kcluster.stages.stage_change import StageChange, held

VOTERS = "controller.quorum.voters"

Ports = Mapping[int, frozenset[int]]
"""Of each controller, by its id."""


def step(running: Running, wanted: Cluster) -> StageChange:
    """The next step of the controllers' ports."""
    if not isinstance(wanted.metadata, Quorum):
        return StageChange()
    controllers = wanted.metadata.controllers
    live = {node.name: running.settings[node.name] for node in wanted.nodes if _known(running, node)}
    opened = {each.id: _listening(live[each.name]) for each in controllers if each.name in live}
    asked = _asked(live.values())
    goal = {each.id: frozenset([each.port]) for each in controllers}
    if not opened or not asked:
        return StageChange()
    if all(asked.get(number, goal[number]) <= goal[number] for number in goal):
        closed = sorted({port for number, ports in opened.items() for port in ports - goal[number]})
        return StageChange(f"close port {_joined(closed)} of the controllers" if closed else "")
    both = {number: goal[number] | asked.get(number, frozenset()) for number in goal}
    ports = _joined(sorted({port for each in goal.values() for port in each}))
    if all(both[number] <= opened[number] for number in opened):
        return StageChange(f"all nodes ask controllers at port {ports}", partial(_edited, both, {}), last=False)
    voters = {name: settings[VOTERS] for name, settings in live.items() if VOTERS in settings}
    return StageChange(f"controllers listen at port {ports} too", partial(_edited, both, voters), last=False)


def _edited(both: Ports, voters: Mapping[str, str], cluster: Cluster) -> Cluster:
    """The cluster whose controllers listen at these ports, and whose nodes have these voters."""
    assert isinstance(cluster.metadata, Quorum)
    common = next(iter(voters.values()), "")

    def asking(node: Node) -> dict[str, str]:
        return {VOTERS: voters.get(node.name, common)} if common else {}

    controllers = tuple(
        held(each, {**asking(each), **_listeners(each, both[each.id])}) for each in cluster.metadata.controllers
    )
    return replace(
        cluster,
        metadata=replace(cluster.metadata, controllers=controllers),
        brokers=tuple(held(broker, asking(broker)) for broker in cluster.brokers),
    )


def _listeners(controller: Controller, ports: Iterable[int]) -> dict[str, str]:
    """The properties of a controller that listens at all these ports; the wanted one is last, as it is the new one."""
    ordered = sorted(ports, key=lambda port: (port == controller.port, port))
    names = [CONTROLLER_LISTENER, *(f"{CONTROLLER_LISTENER}_{port}" for port in ordered[1:])]
    bound = controller.host.address if controller.host.local else ""
    return {
        "listeners": ",".join(f"{name}://{bound}:{port}" for name, port in zip(names, ordered, strict=True)),
        "controller.listener.names": ",".join(names),
        "listener.security.protocol.map": ",".join(f"{name}:PLAINTEXT" for name in names),
    }


def _known(running: Running, node: Node) -> bool:
    return running.runs(node) and node.name in running.settings


def _listening(settings: Mapping[str, str]) -> frozenset[int]:
    return frozenset(port for _, port in endpoints(settings.get("listeners", "")).values())


def _asked(settings: Iterable[Mapping[str, str]]) -> Ports:
    """Where nodes look for each controller."""
    found: dict[int, frozenset[int]] = {}
    for each in settings:
        for number, port in voters_of(each).items():
            found[number] = found.get(number, frozenset()) | {port}
    return found


def voters_of(settings: Mapping[str, str]) -> dict[int, int]:
    """The ids and ports of the voters in the properties of a node: "3000@h1:9093,3001@h2:9093"."""
    written = [entry.partition("@") for entry in settings.get(VOTERS, "").split(",") if "@" in entry]
    return {int(number): int(address.rpartition(":")[2]) for number, _, address in written}


def _joined(ports: Iterable[int]) -> str:
    return ", ".join(map(str, ports))
