"""Settings that Kafka takes while it runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kcluster.model.observed import ObservedHost, ObservedUnit
from kcluster.plan import Dynamic
from tests.unit.plan.observed_hosts import (
    BROKERS,
    NEW,
    OLD,
    altered,
    changed,
    node_seen,
    plan,
    reasons,
    running,
    text_of,
)


def test_a_dynamic_property_needs_no_restart() -> None:
    found = plan(changed(OLD, num_io_threads="12"), running(OLD))
    assert not found.restarts
    assert found.settings == tuple(Dynamic(f"broker-{number}", "num.io.threads", "8", "12") for number in (1, 2, 3))
    assert [change.what for change in found.changes] == ["/etc/kafka/server.properties"] * 3
    assert "num.io.threads 8 -> 12 on broker-1, broker-2, broker-3" in text_of(found)


def test_a_restart_brings_the_dynamic_settings_with_it() -> None:
    found = plan(changed(OLD, queued_max_requests="600", num_io_threads="12"), running(OLD))
    assert reasons(found).keys() == {"broker-1", "broker-2", "broker-3"}
    assert not found.settings


def test_threads_that_grow_beyond_their_double_need_a_restart() -> None:
    found = plan(changed(OLD, num_io_threads="17"), running(OLD))
    assert reasons(found)["broker-2"] == "num.io.threads 8 -> 17"


def test_dynamic_config_that_is_set_already_is_not_set_again() -> None:
    wanted = changed(OLD, num_io_threads="12")
    seen = running(wanted)
    for one in OLD.brokers:  # the process runs since before the change, and was told
        before = node_seen(OLD, one).started_with
        seen = altered(seen, one.host.name, one.name, started_with=before, overrides={"num.io.threads": "12"})
    assert plan(wanted, seen).nothing


def test_an_override_that_would_outrank_the_file_is_brought_in_line() -> None:
    seen = altered(running(OLD), "h1", "broker-1", overrides={"min.insync.replicas": "1"})
    found = plan(OLD, seen)
    assert found.settings == (Dynamic("broker-1", "min.insync.replicas", "1", "2"),)
    assert not found.restarts


def test_an_override_of_a_static_property_is_deleted() -> None:
    seen = altered(running(OLD), "h1", "broker-1", overrides={"advertised.listeners": "INTERNAL://old:9092"})
    assert plan(OLD, seen).settings == (Dynamic("broker-1", "advertised.listeners", "INTERNAL://old:9092", None),)


def test_min_insync_replicas_is_set_for_the_whole_cluster_at_once() -> None:
    found = plan(changed(OLD, min_insync_replicas="1"), running(OLD))
    assert found.settings == (Dynamic("", "min.insync.replicas", "2", "1"),)
    assert "min.insync.replicas 2 -> 1 on the whole cluster" in text_of(found)


def of_hosts(seen: Mapping[str, ObservedHost], *names: str) -> dict[str, ObservedHost]:
    """What was seen of these hosts alone."""
    return {name: seen[name] for name in names}


def test_a_run_on_some_hosts_sets_only_the_brokers_there() -> None:
    found = plan(changed(OLD, min_insync_replicas="1"), of_hosts(running(OLD), "h1", "h2"))
    assert found.settings == tuple(Dynamic(f"broker-{number}", "min.insync.replicas", "2", "1") for number in (1, 2))


def test_cluster_wide_config_is_not_set_by_a_run_on_some_hosts() -> None:
    wanted, seen = changed(NEW, min_insync_replicas="1"), of_hosts(running(NEW), "h1")
    found = plan(wanted, seen)
    assert found.settings == ()
    assert found.notes == (
        "min.insync.replicas 2 -> 1 on broker-1 is not set: it can only be set for the whole cluster; run without "
        "--limit, with one value for all brokers",
    )
    assert not plan(wanted, running(NEW)).settings[0].node


def test_cluster_wide_config_is_not_set_while_brokers_have_different_values() -> None:
    one = changed(NEW, min_insync_replicas="1").brokers[0]
    found = plan(replace(NEW, brokers=(one, *NEW.brokers[1:])), running(NEW))
    assert found.settings == ()
    assert len(found.notes) == 1


def test_a_stopped_broker_with_the_same_value_does_not_prevent_cluster_wide_config() -> None:
    seen = altered(running(OLD), "h3", "broker-3", unit=ObservedUnit("inactive", enabled=True))
    found = plan(changed(OLD, min_insync_replicas="1"), seen)
    assert found.settings == (Dynamic("", "min.insync.replicas", "2", "1"),)


def test_a_broker_with_unknown_config_does_not_get_the_same_config_in_every_run() -> None:
    wanted = changed(OLD, num_io_threads="12")
    before = node_seen(OLD, BROKERS[0]).started_with
    seen = altered(running(wanted), "h1", "broker-1", started_with=before, overrides=None)
    found = plan(wanted, seen)
    assert found.nothing
    assert found.notes == ("num.io.threads 8 -> 12 on broker-1 waits until the broker can be asked, or is restarted",)


def test_listeners_need_a_restart_though_kafka_calls_them_dynamic() -> None:
    moved = tuple(
        replace(one, listeners=(replace(one.listeners[0], port=9192, advertised_port=9192),)) for one in BROKERS
    )
    found = plan(replace(OLD, brokers=moved), running(OLD))
    assert "listeners INTERNAL://:9092 -> INTERNAL://:9192" in reasons(found)["broker-1"]


def test_dynamic_config_that_leaves_the_inventory_is_deleted() -> None:
    seen = running(changed(OLD, num_io_threads="12"))
    before = node_seen(OLD, BROKERS[0]).started_with
    seen = altered(seen, "h1", "broker-1", started_with=before, overrides={"num.io.threads": "12"})
    found = plan(OLD, {"h1": seen["h1"]})
    assert found.settings == (Dynamic("broker-1", "num.io.threads", "12", None),)
    assert not found.restarts
    assert "num.io.threads 12 -> (as in the file) on broker-1" in text_of(found)


def test_dynamic_config_that_is_not_in_the_inventory_is_left_and_noted() -> None:
    seen = altered(running(OLD), "h1", "broker-1", overrides={"leader.replication.throttled.rate": "1000"})
    found = plan(OLD, seen)
    assert found.nothing
    said = "broker-1 has dynamic config leader.replication.throttled.rate=1000 that is not in the inventory"
    assert found.notes == (said,)
    assert said in text_of(found)
