"""Makes a Cluster of what Ansible says, and collects every fault on the way instead of stopping at the first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from itertools import count
from typing import Any

from kcluster.inventory import values, variable_findings
from kcluster.inventory.levels import Data, HostLevels, Level, Tree
from kcluster.inventory.schema import GROUPS, PREFIXES, VARIABLES
from kcluster.model.broker import Broker
from kcluster.model.client import Client
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Ensemble, Server
from kcluster.model.finding import WHO, Finding, Location
from kcluster.model.host import Host
from kcluster.model.listener import Listener
from kcluster.model.node import Layer, Places
from kcluster.model.quorum import Controller, Quorum
from kcluster.model.release import Release
from kcluster.model.spark_cluster import PLACES, SparkCluster, SparkMaster, SparkWorker
from kcluster.model.suggestions import meant

_PLACES = {
    "user": "kafka_user",
    "group": "kafka_group",
    "install_dir": "kafka_install_dir",
    "config_dir": "kafka_config_dir",
    "log_dir": "kafka_log_dir",
}
_SPARK_PLACES = {name: word.replace("kafka_", "spark_") for name, word in _PLACES.items()}


def cluster_from(data: Data, name: str = "kafka") -> tuple[Cluster | None, list[Finding]]:
    """The cluster, as far as it can be made, and everything that is wrong with how it is written."""
    builder = Builder(Tree(data), name)
    return builder.cluster(), builder.findings


class Builder:
    """Goes through the levels and hosts once, from the words to the model."""

    def __init__(self, tree: Tree, name: str) -> None:
        self.tree = tree
        self.name = name
        self.findings: list[Finding] = []
        for level in tree.levels:
            self._read_words(level)

    def cluster(self) -> Cluster | None:
        """The cluster; None when there are no brokers or nobody keeps the metadata."""
        if not self.tree.members:
            self.findings.append(Finding("the inventory has no hosts", "write some, or begin anew: kcluster init DIR"))
            return None
        brokers = sorted((self._broker(member) for member in self.tree.within("kafka_broker")), key=_order)
        metadata = self._metadata()
        if not brokers:
            self._missing_group("kafka_broker", "no brokers: the group kafka_broker is empty or missing")
        if not brokers or metadata is None:
            return None
        return Cluster(
            name=self._agreed("kcluster_name", self.name),
            release=self._release(),
            metadata=metadata,
            brokers=tuple(brokers),
            topics=self._agreed("kafka_topics", ()),
            installs_java=self._agreed("kafka_install_java", False),
            engine=self._engine(metadata),
            client=Client(self._agreed("kafka_client_properties", {}), "kafka_client_properties"),
        )

    def _read_words(self, level: Level) -> None:
        for variable, value in level.written.items():
            if variable in VARIABLES:
                self._read_word(level, variable, value)
            elif variable.startswith(PREFIXES):
                self.findings.append(variable_findings.unknown_variable(variable, level))

    def _read_word(self, level: Level, variable: str, value: Any) -> None:
        faults: values.Faults = []
        read = values.read(VARIABLES[variable].type, value, faults)
        if read is not None:
            level.values[variable] = read
        self.findings += [
            Finding(
                f"{variable} of {level.title}: {fault.message}",
                fault.resolution,
                Location(level.subject, variable, fault.key),
            )
            for fault in faults
        ]

    def _metadata(self) -> Ensemble | Quorum | None:
        servers = sorted((self._server(member) for member in self.tree.within("zookeeper")), key=_order)
        controllers = sorted((self._controller(member) for member in self.tree.within("kafka_controller")), key=_order)
        if servers and controllers:
            self.findings.append(
                Finding(
                    "both groups zookeeper and kafka_controller have hosts; a cluster has one keeper of its metadata",
                    "empty one of the two groups",
                    Location("kafka_controller"),
                )
            )
        if servers:
            return Ensemble(tuple(servers), self._agreed("zookeeper_chroot", ""))
        if controllers:
            return Quorum(tuple(controllers), self._agreed("kafka_cluster_id", ""))
        self._missing_group(
            "zookeeper", "nobody keeps the metadata: the groups zookeeper and kafka_controller are empty"
        )
        return None

    def _missing_group(self, group: str, message: str) -> None:
        near = meant(group, (name for name in self.tree.groups if name not in ("all", "ungrouped", *VARIABLES)))
        hint = f"rename the group {near} to {group}" if near and near != group else f"put hosts into the group {group}"
        self.findings.append(Finding(message, hint, Location(near if near else "all")))

    def _agreed(self, word: str, default: Any) -> Any:
        """A value that must be the same on every host, wherever it is written."""
        said = {
            member.name: member.value(word) for member in self.tree.members.values() if member.value(word) is not None
        }
        distinct = list({repr(value): host for host, value in reversed(said.items())}.values())
        if len(distinct) > 1:
            self.findings.append(variable_findings.differing_values(word, said, distinct[::-1]))
        elif split := next(filter(all, self._split(said)), None):
            self.findings.append(variable_findings.set_on_some_hosts(word, *split))
        return next(iter(said.values()), default)

    def _split(self, said: Mapping[str, Any]) -> Iterator[tuple[list[str], list[str]]]:
        """The hosts of each kind that say something, and those that do not."""
        for kind in GROUPS:
            names = [member.name for member in self.tree.within(kind)]
            yield [name for name in names if name in said], [name for name in names if name not in said]

    def _release(self) -> Release:
        standard = Release()
        return Release(
            self._agreed("kafka_version", standard.version),
            self._agreed("kafka_scala_version", standard.scala),
            self._agreed("kafka_release_sources", standard.sources),
        )

    def _host(self, member: HostLevels) -> Host:
        address = str(member.written("ansible_host") or member.name).strip()
        if values.template_in(address):
            self.findings.append(
                Finding(
                    f"ansible_host of {member.name}: {address} is a template, and kcluster does not fill them in",
                    "write the address itself",
                    Location(member.name, "ansible_host"),
                )
            )
        return Host(member.name, address, member.written("ansible_connection") == "local")

    def _id(self, member: HostLevels, word: str, lowest: int) -> int:
        number = member.value(word)
        if number is None and member.written(word) is None:
            used = {other.value(word) for other in self.tree.members.values()}
            example = next(number for number in count(lowest) if number not in used)
            self.findings.append(
                Finding(f"host {member.name} has no {word}", f"add `{word}: {example}` to it", Location(member.name))
            )
        # Ids below zero mark nodes without one: the rules leave them alone, and the cluster is refused anyhow.
        return -1 - len(self.findings) if number is None else int(number)

    def _common(self, member: HostLevels, config: tuple[str, ...], environment: tuple[str, ...]) -> dict[str, Any]:
        return {
            "host": self._host(member),
            "layers": tuple(_layers(member, config)),
            "environment": {
                key: value for layer in _layers(member, environment) for key, value in layer.properties.items()
            },
            "places": Places(**_given(member, _PLACES)),
        }

    def _engine(self, metadata: Ensemble | Quorum) -> SparkCluster | None:
        """Spark, when the inventory has hosts for it."""
        masters = tuple(
            SparkMaster(**self._daemon(member, "spark_master")) for member in self.tree.within("spark_master")
        )
        workers = tuple(SparkWorker(**self._worker(member)) for member in self.tree.within("spark_worker"))
        if not masters and not workers:
            return None
        servers = metadata.servers if isinstance(metadata, Ensemble) else ()
        return SparkCluster(
            name=self._agreed("kcluster_name", self.name),
            masters=masters,
            workers=workers,
            keepers=",".join(server.client_address for server in servers),
            secret=self._agreed("spark_secret", ""),
        )

    def _worker(self, member: HostLevels) -> dict[str, Any]:
        words = {"work_dir": "spark_work_dir", "cores": "spark_worker_cores", "memory": "spark_worker_memory"}
        return {**_given(member, words), **self._daemon(member, "spark_worker")}

    def _daemon(self, member: HostLevels, kind: str) -> dict[str, Any]:
        common = self._common(member, ("spark_config",), ("spark_environment",))
        words = {"port": f"{kind}_port", "web_port": f"{kind}_web_port"}
        places = replace(PLACES, **_given(member, _SPARK_PLACES))
        return {**common, **_given(member, {"heap": "spark_heap", **words}), "places": places}

    def _server(self, member: HostLevels) -> Server:
        words = {
            "client_port": "zookeeper_client_port",
            "peer_port": "zookeeper_peer_port",
            "election_port": "zookeeper_election_port",
            "data_dir": "zookeeper_data_dir",
            "log_dir": "zookeeper_log_dir",
        }
        return Server(
            id=self._id(member, "zookeeper_id", 1),
            heap=member.value("zookeeper_heap", "512m"),
            **_given(member, words),
            **self._common(member, ("zookeeper_config",), ("zookeeper_environment",)),
        )

    def _controller(self, member: HostLevels) -> Controller:
        words = {
            "port": "kafka_controller_port",
            "data_dir": "kafka_controller_data_dir",
            "heap": "kafka_controller_heap",
        }
        return Controller(
            id=self._id(member, "kafka_controller_id", 3001),
            **_given(member, words),
            **self._common(
                member,
                ("kafka_config", "kafka_controller_config"),
                ("kafka_environment", "kafka_controller_environment"),
            ),
        )

    def _broker(self, member: HostLevels) -> Broker:
        common = self._common(member, ("kafka_config",), ("kafka_environment",))
        listeners = _listeners(member, common["host"])
        return Broker(
            id=self._id(member, "kafka_broker_id", 1),
            listeners=listeners,
            inter_broker_listener=self._inter_broker(member, listeners),
            **_given(member, {"data_dirs": "kafka_data_dirs", "rack": "kafka_rack", "heap": "kafka_heap"}),
            **common,
        )

    def _inter_broker(self, member: HostLevels, listeners: tuple[Listener, ...]) -> str:
        """The inter-broker listener as its listener spells it."""
        names = {listener.name.lower(): listener.name for listener in listeners}
        standard = names.get("internal", listeners[0].name)
        wanted = str(member.value("kafka_inter_broker_listener", standard))
        if wanted.lower() not in names:
            near = meant(wanted, names.values())
            self.findings.append(
                Finding(
                    f"the inter-broker listener {wanted} of {WHO} is not among the listeners",
                    f"write kafka_inter_broker_listener: {near or standard}",
                    Location(member.name, "kafka_inter_broker_listener"),
                    who=member.name,
                )
            )
        return names.get(wanted.lower(), standard)


def _order(node: Server | Controller | Broker) -> tuple[int, str]:
    return node.id, node.host.name


def _given(member: HostLevels, words: dict[str, str]) -> dict[str, Any]:
    """The fields whose words are written somewhere; the model's defaults stand for the others."""
    return {name: value for name, word in words.items() if (value := member.value(word)) is not None}


def _layers(member: HostLevels, words: Iterable[str]) -> Iterator[Layer]:
    for level in member.levels:
        merged = {key: value for word in words for key, value in level.values.get(word, {}).items()}
        if merged:
            yield Layer(level.source, merged)


def _listeners(member: HostLevels, host: Host) -> tuple[Listener, ...]:
    written: Iterable[dict[str, Any]] = member.value("kafka_listeners") or ({"name": "internal", "port": 9092},)
    return tuple(
        Listener(
            name=entry["name"],
            port=entry["port"],
            protocol=entry.get("protocol", "PLAINTEXT"),
            host=str(entry.get("host") or ""),
            advertised_host=str(entry.get("advertised_host") or host.address),
            advertised_port=entry.get("advertised_port") or entry["port"],
        )
        for entry in written
    )
