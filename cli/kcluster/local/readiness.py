"""Waiting until every node of a local cluster serves; ends at once when a node dies."""

from __future__ import annotations

import time
from collections.abc import Callable
from typing import TYPE_CHECKING

from kcluster.clients import ports, zookeeper
from kcluster.clients.processes import alive
from kcluster.errors import ApplyError
from kcluster.local import node_log
from kcluster.local.cluster_record import ClusterRecord
from kcluster.model import failure_causes
from kcluster.model.broker import Broker
from kcluster.model.client import PLAIN
from kcluster.model.ensemble import Server
from kcluster.model.node import Node
from kcluster.model.quorum import Controller

if TYPE_CHECKING:
    from kcluster.clients.kafka import Kafka

PATIENCE = 120.0
"""Seconds to wait for nodes that neither serve nor die; a loaded machine may be slow."""
_POLL = 0.05
_ANSWER = 0.2
_LINES = 12


def wait(
    record: ClusterRecord, log_sizes: dict[str, int], again: Callable[[ClusterRecord, Node], ClusterRecord]
) -> ClusterRecord:
    """Wait until every node serves and return the record; ApplyError as soon as one dies, or after PATIENCE.

    `log_sizes` is the offset of this start in each node's log. A broker whose old registration in ZooKeeper has not
    expired is started again with `again`, which returns the new record.
    """
    deadline = time.monotonic() + PATIENCE
    probe = ServingProbe(record)
    waiting = list(record.cluster.nodes)
    while waiting:
        for node in record.cluster.nodes:
            if not alive(record.started[node.name].process):
                _raise_unless_still_registered(node, log_sizes)
                record = probe.record = again(record, node)
        waiting = [node for node in waiting if not probe.serves(node)]
        if waiting and time.monotonic() > deadline:
            raise _too_slow(waiting[0], log_sizes.get(waiting[0].name, 0))
        time.sleep(_POLL if waiting else 0)
    return record


def _raise_unless_still_registered(node: Node, log_sizes: dict[str, int]) -> None:
    """Raise ApplyError for a dead node, unless the cause is an old registration that expires."""
    cause = failure_causes.cause_of(start_log(node, log_sizes.get(node.name, 0)))
    if node.name not in log_sizes or not cause or cause[0] is not failure_causes.STILL_REGISTERED:
        raise start_failure(node, log_sizes.get(node.name, 0))
    log_sizes[node.name] = node_log.size(node_log.main_log(node))


class ServingProbe:
    """Finds out whether nodes serve, with one client per broker."""

    def __init__(self, record: ClusterRecord) -> None:
        self.record = record
        self._brokers = {broker.id for broker in record.cluster.brokers}
        self._clients: dict[str, Kafka] = {}

    def serves(self, node: Node) -> bool:
        """Whether its own process serves: ZooKeeper has a mode, a controller listens, a broker knows all brokers."""
        port = client_port(node)
        pid = self.record.started[node.name].process.pid
        if not (ports.answers(node.host.address, port) and ports.held_by(pid, port)):
            return False
        if isinstance(node, Server):
            return bool(zookeeper.mode(node.host.address, port))
        return not isinstance(node, Broker) or self._registered(node)

    def _registered(self, broker: Broker) -> bool:
        """Whether the broker answers with metadata that has every broker."""
        from confluent_kafka import KafkaException  # lazily: the JVMs start while Python still imports

        # A client per broker knows one address only, so the answer is this broker's.
        if broker.name not in self._clients:
            self._clients[broker.name] = self._client(broker)
        client = self._clients[broker.name]
        try:
            return self._brokers <= set(client.admin.list_topics(timeout=_ANSWER).brokers)
        except KafkaException:
            client.admin.poll(0)
            return False

    def _client(self, broker: Broker) -> Kafka:
        """A client of this broker only, at a PLAINTEXT listener where there is one."""
        from kcluster.clients.kafka import Kafka

        listener = broker.listener_for(PLAIN)
        if listener.protocol == PLAIN:
            return Kafka(listener.address)
        from kcluster import inventory

        client = self.record.cluster.client
        return Kafka(broker.listener_for(client.protocol).address, inventory.librdkafka(client))


def client_port(node: Node) -> int:
    """The port of a node for its clients."""
    if isinstance(node, Server):
        return node.client_port
    if isinstance(node, Controller):
        return node.port
    assert isinstance(node, Broker)
    return node.internal.advertised_port


def start_failure(node: Node, log_size: int) -> ApplyError:
    """The error for a node that exited during its start, with its last log lines and their known cause."""
    log = start_log(node, log_size)
    found = failure_causes.cause_of(log)
    cause = f": {found[0].text}{_port_holders(node) if found[0] is failure_causes.PORT_IN_USE else ''}" if found else ""
    lines = log[-_LINES:]
    if found and found[1] not in lines:
        lines = [found[1], *lines[1:]]
    return ApplyError(
        f"{node.name} exited during its start{cause}",
        details="\n".join(lines),
        resolution=found[0].local_fix if found else f"read its log: {node_log.main_log(node)}",
    )


def start_log(node: Node, log_size: int) -> list[str]:
    """The lines of this start from the console and the log of a node."""
    return node_log.tail(node_log.console(node), 200) + node_log.tail(node_log.main_log(node), 400, since=log_size)


def _port_holders(node: Node) -> str:
    from kcluster.local.layout import ports_of

    held = [f"{port} by {ports.described(port)}" for _, port in ports_of(node) if not ports.free(port)]
    return f" ({', '.join(held)})" if held else ""


def _too_slow(node: Node, log_size: int) -> ApplyError:
    return ApplyError(
        f"{node.name} does not serve after {PATIENCE:.0f} s",
        details="\n".join(start_log(node, log_size)[-_LINES:]),
        resolution=f"read its log: {node_log.main_log(node)}",
    )
