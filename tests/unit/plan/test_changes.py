"""What changes on the hosts, and how it is shown."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kcluster.config.file_paths import paths
from kcluster.model.cluster import Cluster
from kcluster.model.observed import ObservedFile, ObservedUnit
from kcluster.model.release import Release
from kcluster.plan import Action, Start
from tests.unit.plan.observed_hosts import (
    BROKERS,
    ID,
    NEW,
    OLD,
    altered,
    bare,
    changed,
    disks,
    plan,
    reasons,
    running,
    text_of,
    with_environment,
)


@pytest.mark.parametrize("cluster", [OLD, NEW])
def test_hosts_that_match_the_inventory_have_no_changes(cluster: Cluster) -> None:
    found = plan(cluster, running(cluster))
    assert found.nothing
    assert text_of(found) == "demo: nothing to do: every host is as the inventory says"
    assert found.data()["nothing"] is True


def test_bare_hosts_get_everything_and_start_at_the_same_time_metadata_quorum_first() -> None:
    found = plan(OLD, bare(OLD))
    assert found.fresh
    assert [start.node for start in found.starts][:4] == ["zookeeper-1", "zookeeper-2", "zookeeper-3", "broker-1"]
    assert found.starts[-1] == Start("broker-3", "h3", "kafka")
    on_h1 = [(change.action, change.what) for change in found.changes if change.host == "h1"]
    assert on_h1[:6] == [
        (Action.CREATE, "group kafka"),
        (Action.CREATE, "directory /opt/kafka"),
        (Action.CHANGE, "kernel vm.swappiness"),
        (Action.CREATE, "/etc/sysctl.d/60-kcluster-kafka.conf"),
        (Action.PUSH, "release kafka_2.13-3.9.2"),
        (Action.CREATE, "current -> kafka_2.13-3.9.2"),
    ]
    assert [change.note for change in found.changes if change.what == "kernel vm.swappiness"] == ["60 -> 1"] * 3
    assert (Action.CREATE, "directory /var/lib/zookeeper") in on_h1
    assert (Action.CREATE, "/etc/systemd/system/kafka.service") in on_h1
    assert not found.restarts
    assert not found.refused


def test_hosts_that_change_alike_are_shown_once() -> None:
    assert text_of(plan(OLD, bare(OLD))).splitlines()[0] == "h1, h2, h3"


def test_a_file_that_nodes_of_a_host_share_is_named_once() -> None:
    scripts = [change for change in plan(OLD, bare(OLD)).changes if change.what == "/opt/kafka/start-node.sh"]
    assert [change.host for change in scripts] == ["h1", "h2", "h3"]


def test_a_running_node_keeps_the_link_to_its_release_until_its_restart() -> None:
    new = replace(OLD, release=Release("3.9.1"))
    assert not [change for change in plan(new, running(OLD)).changes if change.what.startswith("current-")]

    stopped = altered(running(OLD), "h2", "broker-2", unit=ObservedUnit("inactive", enabled=True))
    links = [(c.node, c.what, c.note) for c in plan(new, stopped).changes if c.what.startswith("current-")]
    assert links == [("broker-2", "current-kafka -> kafka_2.13-3.9.1", "was kafka_2.13-3.9.2")]

    missing = altered(running(OLD), "h2", "zookeeper-2", link="")
    links = [(c.node, c.what) for c in plan(OLD, missing).changes]
    assert links == [("zookeeper-2", "current-zookeeper -> kafka_2.13-3.9.2")]


def test_only_kraft_storage_is_formatted_and_only_where_it_is_not() -> None:
    assert not [change for change in plan(OLD, bare(OLD)).changes if change.action is Action.FORMAT]
    seen = altered(running(NEW), "h2", "broker-2", directories={})
    formats = [(c.node, c.what, c.note) for c in plan(NEW, seen).changes if c.action is Action.FORMAT]
    assert formats == [("broker-2", "/var/lib/kafka", f"cluster id {ID}")]


def test_nodes_with_data_do_not_start_as_if_they_were_new() -> None:
    stopped = ObservedUnit("inactive", enabled=True)
    seen = running(OLD)
    for one in OLD.nodes:
        seen = altered(seen, one.host.name, one.name, unit=stopped, started_with={}, started_release="")
    found = plan(OLD, seen)
    assert not found.fresh
    assert len(found.starts) == 6
    assert not found.changes


def test_one_running_node_is_enough_for_a_cluster_not_to_be_fresh() -> None:
    seen = altered(bare(OLD) | {"h1": running(OLD)["h1"]}, "h1", "broker-1", directories={})
    assert not plan(OLD, seen).fresh


def test_a_changed_file_is_shown_as_a_diff() -> None:
    found = plan(changed(OLD, num_io_threads="12"), running(OLD))
    assert "+num.io.threads=12" in found.changes[0].diff
    assert "      +num.io.threads=12" in text_of(found)


def test_a_secret_is_hidden_on_both_sides_of_a_diff() -> None:
    old, new = (changed(OLD, ssl_key_password=word) for word in ("opensesame", "hushhush"))
    found = plan(new, running(old))
    (first, *_) = found.changes
    assert (first.note, first.diff) == ("a secret changes", "")
    assert reasons(found)["broker-1"] == "ssl.key.password (a secret changes)"
    assert not any(word in f"{found.data()}{text_of(found)}" for word in ("opensesame", "hushhush"))


def test_a_secret_in_the_environment_is_hidden() -> None:
    old, new = (with_environment(OLD, KAFKA_OPTS=f"-Dkey.password={word} -Dx=1") for word in ("sesame", "hush"))
    found = plan(new, running(old))
    assert reasons(found)["broker-1"] == "KAFKA_OPTS (a secret changes)"
    assert not any(word in f"{found.data()}{text_of(found)}" for word in ("sesame", "hush"))


def test_secrets_of_a_file_written_by_others_do_not_show_in_the_diff() -> None:
    path = paths(BROKERS[0], log4j2=False).config
    foreign = (
        "broker.id: 1\n#ssl.key.password=hush1\nsasl.jaas.config : x \\\n  password=hush2;\nssl.key.password hush3\n"
    )
    files = {path: ObservedFile(foreign, "root:root 0644")}
    found = plan(OLD, altered(running(OLD), "h1", "broker-1", files=files))
    change = next(change for change in found.changes if change.what == path)
    assert change.note.startswith("root:root 0644 -> root:kafka 0640")
    assert "-broker.id: 1" in change.diff
    assert "hush" not in f"{found.data()}{text_of(found)}"


def test_owners_and_modes_that_drifted_are_put_right() -> None:
    path = paths(BROKERS[0], log4j2=False).config
    found = running(OLD)["h1"].nodes["broker-1"]
    files = {**found.files, path: replace(found.files[path], attributes="root:kafka 0644")}
    seen = altered(
        running(OLD), "h1", "broker-1", files=files, directories=disks(OLD, BROKERS[0], attributes="root:kafka 0755")
    )
    changes = [(change.what, change.note) for change in plan(OLD, seen).changes]
    assert changes == [
        ("directory /var/lib/kafka", "root:kafka 0755 -> kafka:kafka 0750"),
        (path, "root:kafka 0644 -> root:kafka 0640"),
    ]


def test_a_unit_that_does_not_start_with_its_host_is_enabled() -> None:
    seen = altered(running(OLD), "h2", "zookeeper-2", unit=ObservedUnit("active", enabled=False, pid=7))
    (change,) = plan(OLD, seen).changes
    assert (change.host, change.action, change.what) == ("h2", Action.ENABLE, "zookeeper.service")


def test_only_observed_hosts_are_planned() -> None:
    found = plan(OLD, {"h2": bare(OLD)["h2"]})
    assert {start.node for start in found.starts} == {"zookeeper-2", "broker-2"}
    assert {change.host for change in found.changes} == {"h2"}


@pytest.mark.parametrize(
    ("java", "cluster", "needed"),
    [
        ("", OLD, "Java 11 or newer (found none; "),
        ("1.8.0_292", OLD, "Java 11 or newer (found 1.8.0_292; "),
        ("11.0.2", NEW, "Java 17 or newer (found 11.0.2; "),
        ("11.0.2", OLD, ""),
        ("21", NEW, ""),
    ],
)
def test_java_that_is_missing_or_too_old_is_named_with_the_variable_that_installs_it(
    java: str, cluster: Cluster, needed: str
) -> None:
    seen = running(cluster)
    said = text_of(plan(cluster, {**seen, "h1": replace(seen["h1"], java=java)}))
    assert (needed in said) if needed else ("nothing to do" in said)
