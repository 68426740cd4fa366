"""Other members and ports of the ZooKeeper ensemble: one member at a time, and brokers know where servers will be.

Two neighbouring lists of members differ in one member, so that each two majorities of them have a server in common. A
server that was added has the data before the others count it: all others serve before it starts (refusals.py).
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import partial

from kcluster.facts.started import as_started
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Ensemble, Server
from kcluster.model.host import Host
from kcluster.model.running import Running
from kcluster.stages.stage_change import StageChange, held

CONNECT = "zookeeper.connect"

Members = Mapping[int, str]
"""The value of `server.N` of each member, by its id: "h1:2888:3888"."""


def members_of(settings: Mapping[str, str]) -> dict[int, str]:
    """The members in the properties of a server."""
    return {
        int(key.removeprefix("server.")): value.removesuffix(":participant")
        for key, value in settings.items()
        if key.removeprefix("server.").isdecimal() and key.startswith("server.")
    }


def leaving(running: Running, stage: Cluster) -> dict[str, tuple[str, int]]:
    """Where the servers listen that the ensemble loses in this stage: host and election port, by name."""
    if not isinstance(stage.metadata, Ensemble):
        return {}
    known = {each.id: each.line for each in stage.metadata.servers}
    for server in stage.metadata.servers:
        known |= members_of(server.staged)
        gone = {n: line for n, line in members_of(running.settings.get(server.name, {})).items() if n not in known}
        if gone:
            return {f"zookeeper-{n}": _election(line) for n, line in gone.items()}
    return {}


def _election(line: str) -> tuple[str, int]:
    host, _, port = line.rsplit(":", 2)
    return host.strip("[]"), int(port)


def step(running: Running, wanted: Cluster) -> StageChange:
    """The next step of the ensemble."""
    if not isinstance(wanted.metadata, Ensemble):
        return StageChange()
    state = _State.of(running, wanted, wanted.metadata)
    if not state.lists:
        return StageChange()
    if state.unequal:
        return state.members_become(state.common)
    now = state.common
    if added := [number for number in state.goal if number not in now]:
        return state.members_become({**now, added[0]: state.goal[added[0]]})
    if moved := [number for number in state.goal if _ports(state.goal[number]) != _ports(now[number])]:
        return state.member_moves(moved[0], now)
    return state.addresses() or state.removal(now)


@dataclass(frozen=True)
class _State:
    """An ensemble with a list of members in each server that runs or has data, and the brokers that connect to it."""

    wanted: Ensemble
    goal: Members
    lists: Mapping[int, Members]
    """By the id of the server that has the list."""
    ports: Mapping[int, int]
    """The client port of each of these servers."""
    connects: Mapping[str, str]
    """`zookeeper.connect` of each broker that runs, by its name."""

    @classmethod
    def of(cls, running: Running, cluster: Cluster, wanted: Ensemble) -> _State:
        known = {each.id: running.settings[each.name] for each in wanted.servers if each.name in running.settings}
        started = (as_started(each, known[each.id]) for each in wanted.servers if each.id in known)
        return cls(
            wanted,
            {each.id: each.line for each in wanted.servers},
            {number: members_of(settings) for number, settings in known.items()},
            {each.id: each.client_port for each in started if isinstance(each, Server)},
            {
                broker.name: running.settings[broker.name].get(CONNECT, "")
                for broker in cluster.brokers
                if running.runs(broker) and broker.name in running.settings
            },
        )

    @property
    def unequal(self) -> bool:
        """Whether servers have different lists: an earlier run was interrupted."""
        return any(each != self.common for each in self.lists.values())

    @property
    def common(self) -> dict[int, str]:
        """The list of all; where they differ in a member, as it is wanted if some server has that, else as most do."""
        numbers = sorted({number for each in self.lists.values() for number in each})
        found = {}
        for number in numbers:
            ways = [each.get(number) for each in self.lists.values()]
            most = Counter(ways).most_common(1)[0][0]
            chosen = self.goal.get(number) if self.goal.get(number) in ways else most
            if chosen:
                found[number] = chosen
        return found

    def members_become(self, members: Members) -> StageChange:
        """All servers have this list; ports and brokers stay as they are."""
        return StageChange(self._change(members), partial(self._edited, members, {}), last=False)

    def member_moves(self, number: int, now: Members) -> StageChange:
        """A server moves to other ports among its peers; that it knows first, and connects to the others."""
        own = {number: {**now, number: self.goal[number]}}
        return StageChange(
            f"zookeeper-{number} listens at {self.goal[number]}", partial(self._edited, now, own), last=False
        )

    def addresses(self) -> StageChange | None:
        """The client ports move when every broker knows both; None when all are as wanted."""
        moving = [each for each in self.wanted.servers if self.ports.get(each.id, each.client_port) != each.client_port]
        if not moving:
            return None
        new = [each.client_address for each in moving]
        old = [f"{each.host.address}:{self.ports[each.id]}" for each in moving]
        ports = ", ".join(map(str, sorted({each.client_port for each in moving})))
        both = ",".join([*(each.client_address for each in self.wanted.servers), *old]) + self.wanted.chroot
        knowing = all(set(new) | set(old) <= _addresses(each) for each in self.connects.values())
        if knowing and not self.connects:
            return None
        title = f"ZooKeeper serves at port {ports}" if knowing else f"brokers know ZooKeeper at port {ports} too"
        return StageChange(title, partial(self._reachable, both, moves=knowing), last=False)

    def removal(self, now: Members) -> StageChange:
        """Brokers forget the servers that leave, then these leave one at a time."""
        if not (gone := [number for number in now if number not in self.goal]):
            return StageChange(self._last_title())
        wanted = self.wanted.connect
        if any(_addresses(each) != _addresses(wanted) for each in self.connects.values()):
            return StageChange(f"brokers connect to {wanted}", partial(self._with_members, now), last=False)
        left = {number: line for number, line in now.items() if number != gone[-1]}
        if len(gone) == 1:
            return StageChange(self._change(left))
        return StageChange(self._change(left), partial(self._with_members, left), last=False)

    def _last_title(self) -> str:
        connects = {frozenset(_addresses(each)) for each in self.connects.values()}
        wanted = _addresses(self.wanted.connect)
        return f"brokers connect to {self.wanted.connect}" if connects - {frozenset(wanted)} else ""

    def _change(self, members: Members) -> str:
        """What this list of members changes, for people."""
        for each in self.lists.values():
            if added := sorted(members.keys() - each.keys()):
                return f"add zookeeper-{added[0]} to the ensemble"
            if removed := sorted(each.keys() - members.keys()):
                return f"remove zookeeper-{removed[0]} from the ensemble"
            if moved := [number for number in members if members[number] != each[number]]:
                return f"all servers know zookeeper-{moved[0]} at {members[moved[0]]}"
        return ""

    def _edited(self, members: Members, own: Mapping[int, Members], cluster: Cluster) -> Cluster:
        """With these members, and own lists of some servers; ports and brokers as they are now."""
        known = next(iter(self.connects.values()), self.wanted.connect)
        return self._at_their_ports(_connecting(self._with_members(members, cluster, own), known, self.connects))

    def _at_their_ports(self, cluster: Cluster) -> Cluster:
        """With servers that stay at the client ports that they have."""
        assert isinstance(cluster.metadata, Ensemble)
        servers = tuple(
            replace(each, client_port=self.ports.get(each.id, each.client_port)) for each in cluster.metadata.servers
        )
        return replace(cluster, metadata=replace(cluster.metadata, servers=servers))

    def _reachable(self, connect: str, cluster: Cluster, *, moves: bool) -> Cluster:
        """With brokers that know all these addresses; the servers move, or stay at their ports."""
        known = _connecting(self._with_members(self.common, cluster), connect)
        return known if moves else self._at_their_ports(known)

    def _with_members(self, members: Members, cluster: Cluster, own: Mapping[int, Members] | None = None) -> Cluster:
        """The wanted servers among these members, each with the whole list."""
        assert isinstance(cluster.metadata, Ensemble)
        servers = tuple(
            held(each, {f"server.{number}": line for number, line in (own or {}).get(each.id, members).items()})
            for each in cluster.metadata.servers
            if each.id in members
        )
        fewest = min(len(each) for each in self.lists.values())
        too_few = fewest if fewest <= 2 and fewest < len(members) else 0
        leaving = tuple(self._leaving(number, line) for number, line in members.items() if number not in self.goal)
        ensemble = replace(cluster.metadata, servers=servers, leaving=leaving, too_few=too_few)
        return replace(cluster, metadata=ensemble)

    def _leaving(self, number: int, line: str) -> Server:
        """A member that is not in the inventory; it may be asked who leads, at the port of the others."""
        address, _ = _election(line)
        return Server(host=Host(address, address), id=number, client_port=next(iter(self.ports.values())))


def _connecting(cluster: Cluster, connect: str, own: Mapping[str, str] | None = None) -> Cluster:
    """With brokers and Spark masters that connect to these servers, or each broker to its own list."""
    servers = connect.partition("/")[0]
    return replace(
        cluster,
        brokers=tuple(held(broker, {CONNECT: (own or {}).get(broker.name, connect)}) for broker in cluster.brokers),
        engine=cluster.engine
        and (replace(cluster.engine, keepers=servers) if cluster.engine.keepers else cluster.engine),
    )


def _addresses(connect: str) -> set[str]:
    return {address.strip() for address in connect.partition("/")[0].split(",")}


def _ports(line: str) -> tuple[str, ...]:
    """The ports of "h1:2888:3888"; the same server may have another name."""
    return tuple(line.rsplit(":", 2)[1:])
