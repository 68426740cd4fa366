"""What a cluster has on its hosts, as it is shown before it is removed, and the report of the removal."""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from kcluster.clients import host_scripts
from kcluster.errors import ExitCode, KclusterError, RefusedError
from kcluster.model.finding import some
from kcluster.operations.destroy.survey import DestroyPart, another, common_id, survey_query
from kcluster.results import Block, Cell, Grid, Result, Tone, counted

if TYPE_CHECKING:
    from kcluster.clients.ssh import CommandResult, Connections
    from kcluster.model.cluster import Cluster


@dataclass(frozen=True)
class RemainingItem:
    """One thing of a cluster on one host."""

    host: str
    what: str
    """"unit", "folder" or "data"."""
    path: str
    size: int = 0
    fate: str = ""
    """"goes", "stays", or why it is left as it is."""
    besides: tuple[str, ...] = ()
    """What in a folder is not kcluster's; it stays, and the folder with it."""


@dataclass(frozen=True)
class Remains(Result):
    """All that a cluster has on its hosts."""

    name: str
    accounts: tuple[str, ...]
    delete_data: bool
    things: tuple[RemainingItem, ...]

    @property
    def nothing(self) -> bool:
        """Whether nothing would be removed."""
        return not any(thing.fate == "goes" for thing in self.things)

    @property
    def kept(self) -> tuple[str, ...]:
        """The data that stays because --delete-data was not given."""
        return tuple(f"{thing.host}:{thing.path}" for thing in self.things if thing.fate == "stays")

    @property
    def refused(self) -> tuple[str, ...]:
        """The data that is left as it is, and why."""
        return tuple(
            f"{thing.host}:{thing.path} {thing.fate}"
            for thing in self.things
            if thing.what == "data" and thing.fate not in ("goes", "stays")
        )

    @property
    def exit_code(self) -> ExitCode:
        """NO when data that should be deleted is left."""
        return ExitCode.NO if self.refused else ExitCode.DONE

    def view(self) -> Iterable[Block]:
        """A row for each thing, one for all hosts with the same; a line when nothing would be removed."""
        alike: dict[tuple[object, ...], list[RemainingItem]] = {}
        for thing in self.things:
            own = thing.host if thing.what == "data" else ""  # each directory with data is shown with its own size
            alike.setdefault((own, thing.what, thing.path, thing.fate, thing.besides), []).append(thing)
        yield Grid(("WHAT", "PATH", "HOSTS", "SIZE", "FATE"), [_row(things) for things in alike.values()])
        if self.nothing:
            yield f"{self.name}: nothing is left to remove"


@dataclass(frozen=True)
class DestroyReport(Result):
    """What was removed, and what is left."""

    name: str
    removed: tuple[str, ...]
    refused: tuple[str, ...]
    kept: tuple[str, ...]
    accounts: tuple[str, ...]
    seconds: float

    @property
    def exit_code(self) -> ExitCode:
        """NO when data that should be deleted is left."""
        return ExitCode.NO if self.refused else ExitCode.DONE

    def view(self) -> Iterable[Block]:
        """The data that is left although it should be deleted, what stays, and one line with the total."""
        for refused in self.refused:
            yield Cell(f"left as it is: {refused}", Tone.BAD)
        if self.kept:
            yield f"its data stays in {', '.join(self.kept)}"
        several = len(self.accounts) > 1
        yield f"the account{'s' if several else ''} {some(self.accounts)} stay{'' if several else 's'} on the hosts"
        yield Cell(
            f"{self.name}: removed {counted(len(self.removed), 'item')} in {self.seconds:.1f} s",
            Tone.BAD if self.refused else Tone.GOOD,
        )


def survey_hosts(cluster: Cluster, hosts: Connections, *, delete_data: bool) -> Remains:
    """What every host has of a cluster; nothing is changed.

    Raises the error of a host that cannot be reached, and RefusedError when one serves another cluster.
    """
    found = _surveys(cluster, hosts)
    if foreign := [f"{host}: {text}" for host, one in found.items() for text in one["strangers"]]:
        raise RefusedError(
            f"{foreign[0].partition(':')[0]} serves another cluster; nothing was changed",
            details="\n".join(foreign),
            resolution="check the host in the inventory; after a new kcluster_name: kcluster provision, then destroy",
        )
    # With ZooKeeper the inventory has no cluster id: it is what most data directories have.
    common = common_id(data["cluster_id"] for one in found.values() for data in one["data"])
    things = tuple(thing for host, one in found.items() for thing in _things(host, one, common, delete_data))
    accounts = tuple(dict.fromkeys(node.places.user for node in cluster.every_node))
    return Remains(cluster.name, accounts, delete_data, things)


def _surveys(cluster: Cluster, hosts: Connections) -> dict[str, dict[str, Any]]:
    scripts = {
        host.name: host_scripts.program("removal", {**survey_query(cluster, host, list(DestroyPart)), "sizes": True})
        for host in cluster.every_host
    }
    answers = hosts.run(host_scripts.COMMAND, stdin=scripts, only=list(scripts), become=True, within=600.0)
    return {host: _understood(host, answer) for host, answer in answers.items()}


def _understood(host: str, answer: CommandResult | KclusterError) -> dict[str, Any]:
    if isinstance(answer, KclusterError):
        raise answer
    if answer.code:
        raise RefusedError(
            f"{host} cannot be inspected: python3 ended with code {answer.code}; nothing was changed",
            details=answer.stderr.strip()[-2000:],
            resolution=f"ssh {host} python3 --version; it has to be 3.8 or newer",
        )
    return dict(json.loads(answer.stdout.splitlines()[-1]))


def _things(host: str, found: Mapping[str, Any], common: str, delete_data: bool) -> Iterator[RemainingItem]:
    for unit in found["units"]:
        yield RemainingItem(host, "unit", unit, fate="goes")
    for one in found["folders"]:
        removable = one["ours"] or not one["foreign"]
        fate = "goes" if removable else "stays, nothing in it is kcluster's"
        yield RemainingItem(host, "folder", one["path"], one["size"], fate, tuple(one["foreign"]))
    for one in found["data"]:
        fate = (one["refusal"] or another(one["cluster_id"], common) or "goes") if delete_data else "stays"
        yield RemainingItem(host, "data", one["path"], one["size"], fate)


def _row(things: list[RemainingItem]) -> list[str | Cell]:
    thing = things[0]
    hosts = ", ".join(each.host for each in things)
    tones = {"goes": Tone.WARN, "stays": Tone.GOOD}
    besides = f", but not {', '.join(thing.besides[:3])}" if thing.besides and thing.fate == "goes" else ""
    fate = f"left: {thing.fate}" if thing.what == "data" and thing.fate not in tones else thing.fate
    size = f"{sum(each.size for each in things) / (1 << 20):.1f} MiB" if thing.what != "unit" else ""
    return [thing.what, thing.path, hosts, size, Cell(fate + besides, tones.get(thing.fate, Tone.BAD))]
