"""Another listener between brokers, another protocol or mechanism of it: open the new one, switch, close the old.

A broker connects to the others by the name of a listener, and takes its protocol from its own map. So each broker must
offer what any other one speaks, in each mixture of two stages. Where the same name gets another protocol, brokers talk
over a listener with another name in between.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, replace

from kcluster.config import properties
from kcluster.facts.started import as_started
from kcluster.model.broker import Broker
from kcluster.model.cluster import Cluster
from kcluster.model.endpoints import own_ports, ports
from kcluster.model.listener import Listener
from kcluster.model.running import Running
from kcluster.stages.stage_change import StageChange, held

_MECHANISM = "sasl.mechanism.inter.broker.protocol"
_ENABLED = "sasl.enabled.mechanisms"
_KAFKAS_MECHANISM = "GSSAPI"
_IN_BETWEEN = "_next"
"""Ends the name of a listener that is there only while the one with the name before it changes its protocol."""
_OF_SECURITY = ("sasl.", "ssl.")


@dataclass(frozen=True)
class Speech:
    """How brokers talk to each other: the name of the listener, its protocol, and the mechanism of SASL."""

    listener: str
    protocol: str
    mechanism: str = ""

    def __str__(self) -> str:
        """For people: "INTERNAL (SASL_SSL, PLAIN)"."""
        return f"{self.listener.upper()} ({', '.join(filter(None, (self.protocol, self.mechanism)))})"


@dataclass(frozen=True)
class Started:
    """A broker as its process was started."""

    broker: Broker
    settings: Mapping[str, str]

    @classmethod
    def of(cls, broker: Broker, settings: Mapping[str, str]) -> Started:
        """A broker of the inventory with the properties of its process."""
        started = as_started(broker, settings)
        assert isinstance(started, Broker)
        return cls(started, settings)

    @property
    def speech(self) -> Speech:
        """How it connects to the other brokers."""
        inner = self.broker.internal
        mechanism = self.settings.get(_MECHANISM, _KAFKAS_MECHANISM) if _sasl(inner) else ""
        return Speech(inner.name, inner.protocol, mechanism)

    @property
    def offers(self) -> frozenset[Speech]:
        """How other brokers can connect to it."""
        return frozenset(
            Speech(each.name, each.protocol, mechanism)
            for each in self.broker.listeners
            for mechanism in (self.mechanisms(each.name) if _sasl(each) else [""])
        )

    def mechanisms(self, listener: str) -> list[str]:
        """The mechanisms that are enabled on a listener."""
        names = self.settings.get(_key(listener, _ENABLED)) or self.settings.get(_ENABLED, _KAFKAS_MECHANISM)
        return [name.strip() for name in names.split(",")]

    def listener(self, name: str) -> Listener | None:
        """The listener with this name."""
        return next((each for each in self.broker.listeners if each.name == name), None)


def step(running: Running, wanted: Cluster) -> StageChange:
    """The next step of the listeners between brokers."""
    live, goals = live_brokers(running, wanted), wanted_brokers(wanted)
    target = _of_all({goal.speech for goal in goals.values()})
    spoken = {started.speech for started in live.values()}
    if target is None or spoken <= {target}:
        return StageChange(_closing(live, goals) if live else "")
    between = replace(target, listener=target.listener + _IN_BETWEEN)
    taken = any(each.listener == target.listener and each.protocol != target.protocol for each in spoken)
    way = between if taken else target
    common = frozenset.intersection(*(started.offers for started in live.values()))
    switches = way in common
    now = way if switches else min(spoken & common or spoken, key=str)
    edit = _Edit(live, goals, spoken, way, now, _of_others(running.cluster) | _of_others(wanted))
    title = f"brokers talk over {way}" if switches else f"open {way} at port {edit.port}"
    return StageChange(title, edit, last=False)


@dataclass(frozen=True)
class _Edit:
    """Makes the stage in which brokers offer what is spoken and the way on, and talk as `now` says."""

    live: Mapping[str, Started]
    goals: Mapping[str, Started]
    spoken: Iterable[Speech]
    way: Speech
    now: Speech
    reserved: frozenset[int]
    """The ports of other nodes, which may be on the same hosts."""

    def __call__(self, cluster: Cluster) -> Cluster:
        return replace(cluster, brokers=tuple(map(self._broker, cluster.brokers)))

    @property
    def port(self) -> int:
        """Where the way on listens on the first broker."""
        first = next(iter(self.goals.values())).broker
        return next(each.port for each in self._listeners(first) if each.name == self.way.listener)

    def _broker(self, broker: Broker) -> Broker:
        staged = dict(self._security(broker))
        if self.now.mechanism:
            staged[_MECHANISM] = self.now.mechanism
        edited = replace(broker, listeners=self._listeners(broker), inter_broker_listener=self.now.listener)
        return held(edited, staged)

    def _listeners(self, broker: Broker) -> tuple[Listener, ...]:
        """The wanted listeners; instead of or beside them those that are spoken; and the way on."""
        found = {each.name: each for each in self.goals[broker.name].broker.listeners}
        if self.way.listener not in found:
            found[self.way.listener] = replace(broker.internal, name=self.way.listener)
        kept = {
            speech.listener: self._as_it_is(broker, speech.listener)
            for speech in self._kept()
            if speech.listener not in found or found[speech.listener].protocol != speech.protocol
        }
        taken = {each.port for each in kept.values()}
        free = {each.name: self._moved(each) if each.port in taken else each for each in found.values()}
        return tuple({**free, **kept}.values())

    def _kept(self) -> Iterator[Speech]:
        return (speech for speech in sorted(self.spoken, key=str) if speech != self.way)

    def _as_it_is(self, broker: Broker, name: str) -> Listener:
        """A listener that is spoken; of a broker without a process as the others have it."""
        own = self.live[broker.name].listener(name) if broker.name in self.live else None
        if own:
            return own
        found = next(filter(None, (started.listener(name) for started in self.live.values())))
        return replace(found, advertised_host=broker.internal.advertised_host)

    def _moved(self, listener: Listener) -> Listener:
        """The same at the next port that no node of the cluster uses, for as long as its own one is taken."""
        every = (started.broker.listeners for started in (*self.live.values(), *self.goals.values()))
        used = {each.port for listeners in every for each in listeners if each.name != listener.name}
        used |= self.reserved | {each.port for goal in self.goals.values() for each in goal.broker.listeners}
        port = next(port for port in range(listener.port + 1, listener.port + 1000) if port not in used)
        return replace(listener, port=port, advertised_port=port)

    def _security(self, broker: Broker) -> Iterator[tuple[str, str]]:
        """The properties of listeners that the inventory has no more, or under another name."""
        goal = self.goals[broker.name]
        for key, value in self.live.get(broker.name, next(iter(self.live.values()))).settings.items():
            of_kept = any(key.startswith(_key(speech.listener, "")) for speech in self._kept())
            if (of_kept or key.startswith(_OF_SECURITY)) and key not in goal.settings:
                yield key, value
        if not goal.listener(self.way.listener):
            source = _key(broker.internal.name, "")
            for key, value in goal.settings.items():
                if key.startswith(source):
                    yield _key(self.way.listener, key.removeprefix(source)), value
        yield from self._mechanisms(goal)

    def _mechanisms(self, goal: Started) -> Iterator[tuple[str, str]]:
        """All mechanisms that are spoken on a listener with SASL, enabled beside the wanted ones."""
        speeches = [*self._kept(), self.way]
        for name in dict.fromkeys(speech.listener for speech in speeches if speech.mechanism):
            needed = [each.mechanism for each in speeches if each.listener == name]
            own = goal.listener(name)
            enabled = goal.mechanisms(name) if own and _sasl(own) else []
            if set(needed) - set(enabled):
                yield _key(name, _ENABLED), ",".join(dict.fromkeys([*enabled, *needed]))


def live_brokers(running: Running, wanted: Cluster) -> dict[str, Started]:
    """The brokers that have a process, as it was started, by name."""
    return {
        broker.name: Started.of(broker, running.settings[broker.name])
        for broker in wanted.brokers
        if running.runs(broker) and broker.name in running.settings
    }


def wanted_brokers(cluster: Cluster) -> dict[str, Started]:
    """The brokers as they shall be started, by name."""
    return {
        broker.name: Started(broker, {each.key: each.value for each in properties.settings(cluster, broker)})
        for broker in cluster.brokers
    }


def _of_others(cluster: Cluster) -> frozenset[int]:
    """The ports of all but the listeners of brokers."""
    each = (set(ports(node)) - set(own_ports(node) if isinstance(node, Broker) else ()) for node in cluster.every_node)
    return frozenset(port for of_node in each for port in of_node)


def _of_all(speeches: Iterable[Speech]) -> Speech | None:
    """What all have in common; None where brokers shall not all talk alike, which no stage makes work."""
    each = set(speeches)
    return each.pop() if len(each) == 1 else None


def _closing(live: Mapping[str, Started], goals: Mapping[str, Started]) -> str:
    """What is closed that brokers offered each other only for the time of a change."""
    names = {each.name for started in live.values() for each in started.broker.listeners}
    gone = sorted(names - {each.name for goal in goals.values() for each in goal.broker.listeners})
    return f"close {', '.join(name.upper() for name in gone)}" if gone else ""


def _sasl(listener: Listener) -> bool:
    return listener.protocol.startswith("SASL")


def _key(listener: str, name: str) -> str:
    return f"listener.name.{listener}.{name}"
