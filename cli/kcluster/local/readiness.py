"""Waiting until a local cluster serves: every node is asked over the wire, and one that dies ends the wait at once."""

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
"""Seconds until nodes that neither serve nor die are given up; a loaded machine may be slow."""
_POLL = 0.05
_ANSWER = 0.2
_LINES = 12


def wait(
    record: ClusterRecord, log_sizes: dict[str, int], again: Callable[[ClusterRecord, Node], ClusterRecord]
) -> ClusterRecord:
    """Return when every node serves; raise as soon as one has died, or when time is up.

    `log_sizes` says where this start begins in each node's log. A broker that ZooKeeper still knows from before
    it was killed is started once more with `again`, which gives the new record.
    """
    deadline = time.monotonic() + PATIENCE
    questions = Questions(record)
    waiting = list(record.cluster.nodes)
    while waiting:
        for node in record.cluster.nodes:
            if not alive(record.started[node.name].process):
                _give_up_unless_registered(node, log_sizes)
                record = questions.record = again(record, node)
        waiting = [node for node in waiting if not questions.serves(node)]
        if waiting and time.monotonic() > deadline:
            raise _too_slow(waiting[0], log_sizes.get(waiting[0].name, 0))
        time.sleep(_POLL if waiting else 0)
    return record


def _give_up_unless_registered(node: Node, log_sizes: dict[str, int]) -> None:
    """Raise for a dead node, unless its cause goes by itself."""
    found = failure_causes.cause_of(last_words(node, log_sizes.get(node.name, 0)))
    if node.name not in log_sizes or not found or found[0] is not failure_causes.STILL_REGISTERED:
        raise died(node, log_sizes.get(node.name, 0))
    log_sizes[node.name] = node_log.size(node_log.main_log(node))


class Questions:
    """Asks the nodes of a cluster whether they serve, and keeps the clients it needs for that."""

    def __init__(self, record: ClusterRecord) -> None:
        self.record = record
        self._brokers = {broker.id for broker in record.cluster.brokers}
        self._clients: dict[str, Kafka] = {}

    def serves(self, node: Node) -> bool:
        """Whether the node does its work: a member of its ensemble or quorum, a broker that knows all others."""
        port = door(node)
        pid = self.record.started[node.name].process.pid
        if not (ports.answers(node.host.address, port) and ports.held_by(pid, port)):
            return False
        if isinstance(node, Server):
            return bool(zookeeper.mode(node.host.address, port))
        return not isinstance(node, Broker) or self._registered(node)

    def _registered(self, broker: Broker) -> bool:
        """Whether the broker itself answers, and every broker is in its metadata."""
        from confluent_kafka import KafkaException  # lazily: the JVMs start while Python still imports

        # A client of its own knows no other address, so it is this broker that gives the first answer.
        if broker.name not in self._clients:
            self._clients[broker.name] = self._client(broker)
        client = self._clients[broker.name]
        try:
            return self._brokers <= set(client.admin.list_topics(timeout=_ANSWER).brokers)
        except KafkaException:
            client.admin.poll(0)
            return False

    def _client(self, broker: Broker) -> Kafka:
        """A client of this broker alone, at an open listener where it has one."""
        from kcluster.clients.kafka import Kafka

        listener = broker.listener_for(PLAIN)
        if listener.protocol == PLAIN:
            return Kafka(listener.address)
        from kcluster import inventory

        client = self.record.cluster.client
        return Kafka(broker.listener_for(client.protocol).address, inventory.librdkafka(client))


def door(node: Node) -> int:
    """The port on which a node answers those who use it."""
    if isinstance(node, Server):
        return node.client_port
    if isinstance(node, Controller):
        return node.port
    assert isinstance(node, Broker)
    return node.internal.advertised_port


def died(node: Node, log_size: int) -> ApplyError:
    """The error for a node that ended while it started: its last words, and what they mean."""
    said = last_words(node, log_size)
    found = failure_causes.cause_of(said)
    cause = f": {found[0].text}{_who_holds(node) if found[0] is failure_causes.PORT_IN_USE else ''}" if found else ""
    lines = said[-_LINES:]
    if found and found[1] not in lines:
        lines = [found[1], *lines[1:]]
    return ApplyError(
        f"{node.name} ended while it started{cause}",
        details="\n".join(lines),
        resolution=found[0].here if found else f"read its log: {node_log.main_log(node)}",
    )


def last_words(node: Node, log_size: int) -> list[str]:
    """What the node said in this start, on its console and in its log."""
    return node_log.tail(node_log.console(node), 200) + node_log.tail(node_log.main_log(node), 400, since=log_size)


def _who_holds(node: Node) -> str:
    from kcluster.local.layout import ports_of

    held = [f"{port} by {ports.described(port)}" for _, port in ports_of(node) if not ports.free(port)]
    return f" ({', '.join(held)})" if held else ""


def _too_slow(node: Node, log_size: int) -> ApplyError:
    return ApplyError(
        f"{node.name} does not serve after {PATIENCE:.0f} s",
        details="\n".join(last_words(node, log_size)[-_LINES:]),
        resolution=f"read its log: {node_log.main_log(node)}",
    )
