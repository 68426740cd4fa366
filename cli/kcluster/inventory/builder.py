"""Builds a Cluster from the export of an inventory, and collects all findings instead of stopping at the first."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import replace
from typing import Any

from kcluster.inventory import variable_findings, variables
from kcluster.inventory.group_findings import missing_group
from kcluster.inventory.levels import Data, HostLevels, Tree
from kcluster.inventory.node_ids import NodeIds
from kcluster.inventory.schema import GROUPS
from kcluster.model.broker import Broker
from kcluster.model.client import Client
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Ensemble, Server
from kcluster.model.finding import WHO, Finding, Location
from kcluster.model.host import Host
from kcluster.model.listener import Listener
from kcluster.model.node import Kind, Layer, Places
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
_SPARK_PLACES = {field: variable.replace("kafka_", "spark_") for field, variable in _PLACES.items()}


def cluster_from(data: Data, name: str = "kafka") -> tuple[Cluster | None, list[Finding]]:
    """The cluster of an export and all findings; the cluster is None without brokers or a metadata quorum."""
    builder = Builder(Tree(data), name)
    return builder.cluster(), builder.findings


class Builder:
    """Has the variables of all levels read, then builds the nodes of all hosts; findings collect in `findings`."""

    def __init__(self, tree: Tree, name: str) -> None:
        self.tree = tree
        self.name = name
        self.findings = variables.read(tree)
        self._ids = NodeIds(tree, self.findings)

    def cluster(self) -> Cluster | None:
        """The cluster; None when there are no brokers or no metadata quorum."""
        if not self.tree.members:
            self.findings.append(
                Finding("the inventory has no hosts", "add hosts, or write a new inventory: kcluster init DIR")
            )
            return None
        brokers = sorted((self._broker(member) for member in self.tree.within("kafka_broker")), key=_order)
        metadata = self._metadata()
        if not brokers:
            message = "group kafka_broker is empty or missing: the cluster has no brokers"
            self.findings.append(missing_group(self.tree, ("kafka_broker",), message))
        if not brokers or metadata is None:
            return None
        return Cluster(
            name=self._cluster_wide("kcluster_name", self.name),
            release=self._release(),
            metadata=metadata,
            brokers=tuple(brokers),
            topics=self._cluster_wide("kafka_topics", ()),
            installs_java=self._cluster_wide("kafka_install_java", False),
            engine=self._spark(metadata),
            client=Client(self._cluster_wide("kafka_client_properties", {}), "kafka_client_properties"),
        )

    def _metadata(self) -> Ensemble | Quorum | None:
        servers = sorted((self._server(member) for member in self.tree.within("zookeeper")), key=_order)
        controllers = sorted((self._controller(member) for member in self.tree.within("kafka_controller")), key=_order)
        if servers and controllers:
            self.findings.append(
                Finding(
                    "groups zookeeper and kafka_controller both have hosts: use ZooKeeper or KRaft, not both",
                    "empty one of the two groups",
                    Location("kafka_controller"),
                )
            )
        if servers:
            return Ensemble(tuple(servers), self._cluster_wide("zookeeper_chroot", ""))
        if controllers:
            return Quorum(tuple(controllers), self._cluster_wide("kafka_cluster_id", ""))
        message = "groups zookeeper and kafka_controller are empty: the cluster has no metadata quorum"
        self.findings.append(missing_group(self.tree, ("zookeeper", "kafka_controller"), message))
        return None

    def _cluster_wide(self, variable: str, default: Any) -> Any:
        """The value of a variable that must be the same on every host; a finding where it is not."""
        every = {member.name: member.value(variable) for member in self.tree.members.values()}
        by_host = {host: value for host, value in every.items() if value is not None}
        distinct = list({repr(value): host for host, value in reversed(by_host.items())}.values())
        if len(distinct) > 1:
            self.findings.append(variable_findings.differing_values(variable, by_host, distinct[::-1]))
        elif split := next(filter(all, self._split(by_host)), None):
            self.findings.append(variable_findings.set_on_some_hosts(variable, *split))
        return next(iter(by_host.values()), default)

    def _split(self, by_host: Mapping[str, Any]) -> Iterator[tuple[list[str], list[str]]]:
        """For each group, the hosts with a value and those without."""
        for group in GROUPS:
            names = [member.name for member in self.tree.within(group)]
            yield [name for name in names if name in by_host], [name for name in names if name not in by_host]

    def _release(self) -> Release:
        standard = Release()
        return Release(
            self._cluster_wide("kafka_version", standard.version),
            self._cluster_wide("kafka_scala_version", standard.scala),
            self._cluster_wide("kafka_release_sources", standard.sources),
            self._cluster_wide("kafka_release_sha512", standard.sha512),
        )

    def _host(self, member: HostLevels) -> Host:
        address = str(member.written("ansible_host") or member.name).strip()
        if template := member.unevaluated("ansible_host"):
            self.findings.append(variable_findings.unevaluated(template, member.name))
        return Host(member.name, address, member.written("ansible_connection") == "local")

    def _common(self, member: HostLevels, config: tuple[str, ...], environment: tuple[str, ...]) -> dict[str, Any]:
        return {
            "host": self._host(member),
            "layers": tuple(_layers(member, config)),
            "environment": {
                key: value for layer in _layers(member, environment) for key, value in layer.properties.items()
            },
            "places": Places(**_set_fields(member, _PLACES)),
        }

    def _spark(self, metadata: Ensemble | Quorum) -> SparkCluster | None:
        """The Spark cluster, where the inventory has hosts for it."""
        masters = tuple(
            SparkMaster(**self._daemon(member, "spark_master")) for member in self.tree.within("spark_master")
        )
        workers = tuple(SparkWorker(**self._worker(member)) for member in self.tree.within("spark_worker"))
        if not masters and not workers:
            return None
        servers = metadata.servers if isinstance(metadata, Ensemble) else ()
        return SparkCluster(
            name=self._cluster_wide("kcluster_name", self.name),
            masters=masters,
            workers=workers,
            keepers=",".join(server.client_address for server in servers),
            secret=self._cluster_wide("spark_secret", ""),
        )

    def _worker(self, member: HostLevels) -> dict[str, Any]:
        fields = {"work_dir": "spark_work_dir", "cores": "spark_worker_cores", "memory": "spark_worker_memory"}
        return {**_set_fields(member, fields), **self._daemon(member, "spark_worker")}

    def _daemon(self, member: HostLevels, kind: str) -> dict[str, Any]:
        common = self._common(member, ("spark_config",), ("spark_environment",))
        ports = {"port": f"{kind}_port", "web_port": f"{kind}_web_port"}
        places = replace(PLACES, **_set_fields(member, _SPARK_PLACES))
        return {**common, **_set_fields(member, {"heap": "spark_heap", **ports}), "places": places}

    def _server(self, member: HostLevels) -> Server:
        fields = {
            "client_port": "zookeeper_client_port",
            "peer_port": "zookeeper_peer_port",
            "election_port": "zookeeper_election_port",
            "data_dir": "zookeeper_data_dir",
            "log_dir": "zookeeper_log_dir",
        }
        return Server(
            id=self._ids.of(member, Kind.ZOOKEEPER),
            heap=member.value("zookeeper_heap", "512m"),
            **_set_fields(member, fields),
            **self._common(member, ("zookeeper_config",), ("zookeeper_environment",)),
        )

    def _controller(self, member: HostLevels) -> Controller:
        fields = {
            "port": "kafka_controller_port",
            "data_dir": "kafka_controller_data_dir",
            "heap": "kafka_controller_heap",
        }
        return Controller(
            id=self._ids.of(member, Kind.CONTROLLER),
            **_set_fields(member, fields),
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
            id=self._ids.of(member, Kind.BROKER),
            listeners=listeners,
            inter_broker_listener=self._inter_broker(member, listeners),
            **_set_fields(member, {"data_dirs": "kafka_data_dirs", "rack": "kafka_rack", "heap": "kafka_heap"}),
            **common,
        )

    def _inter_broker(self, member: HostLevels, listeners: tuple[Listener, ...]) -> str:
        """The name of the inter-broker listener, as the listener is written; a finding where there is none."""
        names = {listener.name.lower(): listener.name for listener in listeners}
        standard = names.get("internal", listeners[0].name)
        name = str(member.value("kafka_inter_broker_listener", standard))
        if name.lower() not in names:
            near = meant(name, names.values())
            self.findings.append(
                Finding(
                    f"kafka_inter_broker_listener of {WHO} is {name}, but there is no such listener",
                    f"set kafka_inter_broker_listener: {near or standard}",
                    Location(member.name, "kafka_inter_broker_listener"),
                    who=member.name,
                )
            )
        return names.get(name.lower(), standard)


def _order(node: Server | Controller | Broker) -> tuple[int, str]:
    return node.id, node.host.name


def _set_fields(member: HostLevels, variables: Mapping[str, str]) -> dict[str, Any]:
    """The fields whose variables are set; the model has defaults for the others."""
    return {field: value for field, variable in variables.items() if (value := member.value(variable)) is not None}


def _layers(member: HostLevels, variables: Iterable[str]) -> Iterator[Layer]:
    for level in member.levels:
        merged = {key: value for variable in variables for key, value in level.values.get(variable, {}).items()}
        if merged:
            yield Layer(level.source, merged)


def _listeners(member: HostLevels, host: Host) -> tuple[Listener, ...]:
    entries: Iterable[dict[str, Any]] = member.value("kafka_listeners") or ({"name": "internal", "port": 9092},)
    return tuple(
        Listener(
            name=entry["name"],
            port=entry["port"],
            protocol=entry.get("protocol", "PLAINTEXT"),
            host=str(entry.get("host") or ""),
            advertised_host=str(entry.get("advertised_host") or host.address),
            advertised_port=entry.get("advertised_port") or entry["port"],
        )
        for entry in entries
    )
