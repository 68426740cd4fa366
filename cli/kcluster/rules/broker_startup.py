"""Rules that a broker checks at startup: values that depend on each other."""

from __future__ import annotations

from collections.abc import Iterator, Mapping

from kcluster.config import property_tables
from kcluster.config.property_tables import PropertyDefinition
from kcluster.model.cluster import Cluster
from kcluster.model.finding import Finding, Location
from kcluster.model.node import Node
from kcluster.rules.property_sources import location_of, values_set
from kcluster.rules.structure import VERSIONS

_ORDERED = (
    ("replica.fetch.wait.max.ms", "replica.socket.timeout.ms"),
    ("replica.fetch.wait.max.ms", "replica.lag.time.max.ms"),
    ("socket.request.max.bytes", "queued.max.request.bytes"),
    ("connection.failed.authentication.delay.ms", "connections.max.idle.ms"),
)
"""The first must not be larger than the second; -1 of the second means no limit."""


def dependent_limits_ordered(cluster: Cluster) -> Iterator[Finding]:
    """No property exceeds the one that limits it."""
    if cluster.release.version not in VERSIONS:
        return
    pairs = {pair for pair in _ORDERED for broker in cluster.brokers if _touches(broker, pair)}
    if not pairs:
        return
    table = property_tables.table(cluster.release.version)
    reported = set()
    for broker in cluster.brokers:
        for low, high in sorted(pairs):
            small, large = _value(broker, low, table), _value(broker, high, table)
            if small > large != -1 and (low, small, high, large) not in reported:
                reported.add((low, small, high, large))
                yield Finding(
                    f"{low}={small} is larger than {high}={large}: the broker will not start",
                    f"set {low} to at most {large}",
                    location_of(broker, low) or location_of(broker, high) or Location(),
                )


def inter_broker_mechanism_enabled(cluster: Cluster) -> Iterator[Finding]:
    """The SASL mechanism between brokers is one of those that their listener accepts."""
    key = "sasl.mechanism.inter.broker.protocol"
    reported: set[str] = set()
    for broker in cluster.brokers:
        by_hand = broker.set_by_hand()
        own = f"listener.name.{broker.internal.name}.sasl.enabled.mechanisms"
        enabled = own if own in by_hand else "sasl.enabled.mechanisms"
        mechanism, accepted = by_hand.get(key, "GSSAPI"), by_hand.get(enabled, "GSSAPI")
        uses_sasl = broker.internal.protocol.startswith("SASL")
        if uses_sasl and mechanism not in accepted.replace(" ", "").split(",") and mechanism not in reported:
            reported.add(mechanism)
            yield Finding(
                f"{key}={mechanism} is not among {enabled}={accepted}",
                f"add {mechanism} to {enabled}",
                location_of(broker, key) or location_of(broker, enabled) or Location(broker.host.name),
            )


def super_users_well_formed(cluster: Cluster) -> Iterator[Finding]:
    """Super users are separated by semicolons, as names may contain commas, and each begins with `User:`."""
    for value, spot in values_set((*cluster.brokers, *cluster.metadata.nodes), "super.users"):
        users = [user.strip() for user in value.split(";") if user.strip()]
        wrong = next((user for user in users if not user.startswith("User:") or ",User:" in user.replace(" ", "")), "")
        if wrong:
            yield Finding(
                f"super.users={value} is not of the form User:NAME;User:NAME",
                "write User:NAME for each user, separated by semicolons",
                spot,
            )


def _touches(node: Node, pair: tuple[str, str]) -> bool:
    return any(key in layer.properties for layer in node.layers for key in pair)


def _value(node: Node, key: str, table: Mapping[str, PropertyDefinition]) -> int:
    """The effective number of a node; -1 where there is none, or no number (another rule reports that)."""
    value = node.set_by_hand().get(key) or (table[key].default if key in table else None) or "-1"
    return int(value) if value.lstrip("-").isdecimal() else -1


RULES = (dependent_limits_ordered, inter_broker_mechanism_enabled, super_users_well_formed)
