"""What Kafka would refuse is known before it does."""

from __future__ import annotations

import subprocess
import sys

import pytest

from kcluster.config.property_tables import (
    PropertyDefinition,
    fault,
    plugin,
    secret,
    table,
    topic_table,
    zookeeper_family,
    zookeeper_table,
)


def of(kind: str, valid: str = "") -> PropertyDefinition:
    return PropertyDefinition("some.property", kind, None, valid, "high", "read-only", "")


@pytest.mark.parametrize("version", ["3.9.1", "3.9.2", "4.1.1", "4.2.0"])
def test_every_property_of_a_version_is_known_with_its_type_and_what_it_does(version: str) -> None:
    broker = table(version)
    assert broker["min.insync.replicas"].type == "int"
    assert broker["min.insync.replicas"].update_mode == "cluster-wide"
    assert broker["log.retention.hours"].default == "168"
    assert topic_table(version)["retention.ms"].server_default == "log.retention.ms"
    assert len(broker) > 300
    assert not [row.name for row in broker.values() if not row.doc]


def test_zookeepers_own_properties_are_known_up_to_3_9() -> None:
    assert "zookeeper.connect" in table("3.9.2")
    assert "zookeeper.connect" not in table("4.1.1")


@pytest.mark.parametrize(("version", "same_as"), [("4.0.1", "4.1.1"), ("4.3.1", "4.2.0"), ("3.8.0", "3.9.2")])
def test_a_line_without_a_table_has_that_of_the_nearest_line(version: str, same_as: str) -> None:
    assert table(version) is table(same_as)


@pytest.mark.parametrize(
    ("property_", "value"),
    [
        (of("boolean"), "TRUE"),
        (of("int"), " 5 "),
        (of("int"), "-2147483648"),
        (of("int", "[1,...]"), "1"),
        (of("int", "[1,...,9] or -1"), "-1"),
        (of("long"), "9223372036854775807"),
        (of("double", "[0,...,1]"), "0.5"),
        (of("class"), "org.apache.kafka.common.Some$Inner"),
        (of("class"), ""),
        (of("list", "[compact, delete]"), "compact, delete"),
        (of("list", "[compact, delete]"), ""),
        (of("string", "[none, required]"), "none"),
        (of("string", "(case insensitive) [ES256, RS256]"), "es256"),
        (of("string"), "anything"),
        (of("password"), "anything"),
        (of("int"), "${file:/etc/secrets:port}"),
        (of("list", "[partitionId]:[brokerId],[partitionId]:[brokerId],..."), "0:1,1:2"),
        (of("list", "[partitionId]:[brokerId],[partitionId]:[brokerId],..."), "*"),
        (table("3.9")["inter.broker.protocol.version"], "3.9"),
        (table("3.9")["inter.broker.protocol.version"], "3.9-IV0"),
    ],
)
def test_what_kafka_takes_has_no_fault(property_: PropertyDefinition, value: str) -> None:
    assert fault(property_, value) == ""


@pytest.mark.parametrize(
    ("property_", "value", "expected"),
    [
        (of("boolean"), "yes", "must be true or false"),
        (of("int"), "three", "must be a whole number"),
        (of("int"), "1_000", "must be a whole number"),
        (of("int"), "", "must be a whole number"),
        (of("int"), "2147483648", "must be between -2147483648 and 2147483647"),
        (of("short"), "40000", "must be between -32768 and 32767"),
        (of("int", "[1,...]"), "0", "must be at least 1"),
        (of("int", "[1,...,9] or -1"), "10", "must be between 1 and 9, or -1"),
        (of("double"), "half", "must be a number"),
        (of("double", "[0,...,1]"), "1.5", "must be between 0 and 1"),
        (of("class"), "not a class", "must be the name of a Java class"),
        (of("list", "[compact, delete]"), "delete,keep", "has the unknown value keep; known: compact, delete"),
        (of("string", "[none, required]"), "None", "must be one of none, required"),
        (of("string", "non-empty string"), " ", "must not be empty"),
        (of("list", "[partitionId]:[brokerId],[partitionId]:[brokerId],..."), "0", "must be * or PARTITION:BROKER"),
        (table("3.9")["inter.broker.protocol.version"], "9.9", "must be a protocol version, 0.8.0 to 4.0-IV1"),
    ],
)
def test_what_kafka_refuses_has_a_fault_that_says_why(property_: PropertyDefinition, value: str, expected: str) -> None:
    assert fault(property_, value).startswith(expected)


def test_no_default_has_a_fault() -> None:
    # These two are lists whose empty default is replaced before it is checked.
    replaced = {"controller.quorum.voters", "controller.quorum.bootstrap.servers"}
    tables = [lookup(version) for lookup in (table, topic_table) for version in ("3.9", "4.1", "4.2")]
    faults = {
        row.name: problem
        for rows in (*tables, zookeeper_table())
        for row in rows.values()
        if row.default is not None and row.name not in replaced and (problem := fault(row, row.default))
    }
    assert faults == {}


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("tickTime", "2000", ""),
        ("tickTime", "fast", "must be a whole number"),
        ("autopurge.snapRetainCount", "1", "must be at least 3"),
        ("forceSync", "maybe", "must be one of yes, no"),
        ("clientPort", "70000", "must be between 1 and 65535"),
    ],
)
def test_zookeepers_properties_are_checked_as_well(name: str, value: str, expected: str) -> None:
    assert fault(zookeeper_table()[name], value) == expected


@pytest.mark.parametrize("name", ["server.1", "weight.12", "authProvider.x509", "metricsProvider.httpPort"])
def test_zookeepers_families_are_let_through(name: str) -> None:
    assert zookeeper_family(name)
    assert not zookeeper_family("server.one")


def test_plugins_are_let_through_and_misspelt_properties_are_not() -> None:
    assert plugin("listener.name.client.ssl.keystore.location")
    assert plugin("cruise.control.metrics.topic")
    assert plugin("ranger.plugin.kafka.service.name")
    assert not plugin("min.insync.replica")


@pytest.mark.parametrize(
    "name",
    [
        "ssl.keystore.password",
        "listener.name.client.ssl.key.password",
        "listener.name.client.scram-sha-512.sasl.jaas.config",
        "password.encoder.secret",
        "ssl.keystore.key",
        "delegation.token.master.key",
        "ssl.trustStore.password",
    ],
)
def test_secrets_are_recognised(name: str) -> None:
    assert secret(name)


@pytest.mark.parametrize(
    "name", ["log.dirs", "password.encoder.iterations", "ssl.keyStore.passwordPath", "ssl.keystore.location"]
)
def test_what_is_no_secret_is_shown(name: str) -> None:
    assert not secret(name)


def test_loading_a_table_takes_no_time_and_happens_when_it_is_asked_for() -> None:
    code = """
import time
from kcluster.config import property_tables as properties
assert properties._tables.cache_info().currsize == 0
times = []
for _ in range(5):
    properties._tables.cache_clear()
    began = time.process_time()
    properties.table("3.9.2")
    times.append(time.process_time() - began)
print(min(times))
"""
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert float(done.stdout) < 0.015
