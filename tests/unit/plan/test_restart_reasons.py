"""Which processes are restarted, why, and in which order."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kcluster.config.file_paths import paths
from kcluster.model.ensemble import Ensemble
from kcluster.model.observed import ObservedUnit
from kcluster.model.quorum import Quorum
from kcluster.model.release import Release
from kcluster.plan import Action, Roles
from tests.unit.plan.observed_hosts import (
    BROKERS,
    CONTROLLERS,
    ID,
    NEW,
    OLD,
    SERVERS,
    altered,
    changed,
    node_seen,
    plan,
    reasons,
    running,
    text_of,
    with_environment,
)


def test_a_stopped_unit_is_started_and_never_restarted() -> None:
    wanted = changed(OLD, num_replica_fetchers="4")
    seen = altered(running(OLD), "h2", "broker-2", unit=ObservedUnit("failed", enabled=True))
    found = plan(wanted, seen)
    assert [start.node for start in found.starts] == ["broker-2"]
    assert "broker-2" not in reasons(found)


def test_a_property_that_is_read_at_the_start_makes_a_restart_that_names_it() -> None:
    found = plan(changed(OLD, queued_max_requests="600"), running(OLD))
    assert reasons(found)["broker-1"] == "queued.max.requests 500 -> 600"
    assert not found.settings


def test_a_process_that_was_started_before_the_last_change_is_restarted_though_the_files_are_right() -> None:
    wanted = changed(OLD, queued_max_requests="600")
    seen = altered(running(wanted), "h3", "broker-3", started_with=node_seen(OLD, BROKERS[2]).started_with)
    found = plan(wanted, seen)
    assert not found.changes
    assert reasons(found) == {"broker-3": "queued.max.requests 500 -> 600"}


def test_a_property_that_is_gone_makes_a_restart() -> None:
    found = plan(OLD, running(changed(OLD, queued_max_requests="600")))
    assert reasons(found)["broker-1"] == "queued.max.requests no longer set"


def test_comments_and_blanks_change_the_file_and_restart_nothing() -> None:
    path = paths(BROKERS[0], log4j2=False).config
    seen = running(OLD)
    found = seen["h1"].nodes["broker-1"]
    spelled = f"# by hand\n{found.files[path].text}".replace("num.io.threads=8", "num.io.threads = 8")
    files = {**found.files, path: replace(found.files[path], text=spelled)}
    result = plan(OLD, altered(seen, "h1", "broker-1", files=files, started_with={**found.started_with, path: spelled}))
    assert [change.what for change in result.changes] == [path]
    assert not result.restarts


def test_the_environment_names_what_changes_in_it() -> None:
    found = plan(with_environment(OLD, KAFKA_JMX_OPTS="-Dx=1"), running(OLD))
    assert reasons(found)["broker-1"] == "KAFKA_JMX_OPTS set to -Dx=1"


def test_a_heap_is_a_restart_of_its_kind_only() -> None:
    servers = tuple(replace(server, heap="2g") for server in SERVERS)
    found = plan(replace(OLD, metadata=Ensemble(servers)), running(OLD))
    assert list(reasons(found)) == ["zookeeper-1", "zookeeper-2", "zookeeper-3"]
    assert reasons(found)["zookeeper-1"] == "KAFKA_HEAP_OPTS -Xms1g -Xmx1g -> -Xms2g -Xmx2g"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("LimitNOFILE=200000", "LimitNOFILE=100000", "the unit changes: LimitNOFILE"),
        ("RestartSec=10", "RestartSec=5", None),
        ("StartLimitIntervalSec=120", "StartLimitIntervalSec=600", None),
        ("Description=Kafka", "Description=Apache Kafka", None),
    ],
)
def test_a_unit_restarts_its_process_only_for_what_the_process_meets(old: str, new: str, reason: str | None) -> None:
    path = paths(BROKERS[0], log4j2=False).unit
    seen = running(OLD)
    found = seen["h1"].nodes["broker-1"]
    before = found.files[path].text.replace(old, new)
    files = {**found.files, path: replace(found.files[path], text=before)}
    result = plan(OLD, altered(seen, "h1", "broker-1", files=files, started_with={**found.started_with, path: before}))
    assert [change.what for change in result.changes] == [path]
    assert reasons(result).get("broker-1") == reason


def test_logging_is_read_at_the_start() -> None:
    path = paths(BROKERS[0], log4j2=False).logging
    found = running(OLD)["h1"].nodes["broker-1"]
    seen = altered(running(OLD), "h1", "broker-1", started_with={**found.started_with, path: "log4j.rootLogger=OFF\n"})
    assert reasons(plan(OLD, seen)) == {"broker-1": "kafka-log4j.properties changes"}


def test_the_leader_of_zookeeper_and_the_controller_go_last_of_their_kind() -> None:
    servers, brokers = (tuple(replace(one, heap="2g") for one in kind) for kind in (SERVERS, BROKERS))
    wanted = replace(OLD, metadata=Ensemble(servers), brokers=brokers)
    found = plan(wanted, running(OLD), Roles(zookeeper_leader="zookeeper-1", controller="broker-2"))
    assert [restart.node for restart in found.restarts] == [
        *("zookeeper-2", "zookeeper-3", "zookeeper-1"),
        *("broker-1", "broker-3", "broker-2"),
    ]
    assert "3. zookeeper-1 on h1 (last, ZooKeeper leader): KAFKA_HEAP_OPTS" in text_of(found)


def test_with_kraft_the_active_controller_goes_last_of_the_controllers_and_before_the_brokers() -> None:
    controllers, brokers = (tuple(replace(one, heap="2g") for one in kind) for kind in (CONTROLLERS, BROKERS))
    wanted = replace(NEW, metadata=Quorum(controllers, ID), brokers=brokers)
    found = plan(wanted, running(NEW), Roles(controller="controller-3001"))
    assert [restart.node for restart in found.restarts] == [
        *("controller-3002", "controller-3003", "controller-3001"),
        *("broker-1", "broker-2", "broker-3"),
    ]


def test_a_new_patch_is_pushed_and_rolled() -> None:
    found = plan(replace(OLD, release=Release("3.9.2")), running(replace(OLD, release=Release("3.9.1"))))
    assert [(change.action, change.what) for change in found.changes if change.host == "h1"] == [
        (Action.PUSH, "release kafka_2.13-3.9.2"),
        (Action.CHANGE, "current -> kafka_2.13-3.9.2"),
    ]
    assert reasons(found)["zookeeper-1"] == "release kafka_2.13-3.9.1 -> kafka_2.13-3.9.2"
    assert not found.refused


def test_a_process_that_runs_without_its_configuration_is_restarted() -> None:
    found = running(OLD)["h1"].nodes["broker-1"]
    path = paths(BROKERS[0], log4j2=False).config
    files = {other: file for other, file in found.files.items() if other != path}
    result = plan(OLD, altered(running(OLD), "h1", "broker-1", files=files, started_with={}))
    assert reasons(result) == {"broker-1": f"started without {path}"}
