"""Each check with a good, a bad and, where there is one, a boundary answer."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kcluster.errors import ExitCode, UnreachableError
from kcluster.facts.preflight import host_facts
from kcluster.facts.preflight.catalogue import EXPLANATIONS
from kcluster.facts.preflight.check_results import CheckResult
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Ensemble
from kcluster.model.quorum import Controller, Quorum
from kcluster.operations.check import CheckSeverity, judge
from tests.unit.facts.preflight.conftest import broker, good, host_of, with_directory, with_host

GIB = 1 << 30
UNIT = "/etc/systemd/system/kafka.service"
DATA, KEEPER = "/var/lib/kafka", "/var/lib/zookeeper"
META = {"broker.id": "1", "cluster.id": "ours", "version": "0"}


def worst(answers: tuple[CheckResult, ...], word: str) -> str:
    """How the worst answer to a check is."""
    found = {each.severity for each in answers if each.id == word}
    return next(severity for severity in CheckSeverity if severity in found)


def told_of(cluster: Cluster, told: Any, word: str) -> str:
    return worst(judge(cluster, told).answers, word)


def test_on_good_hosts_every_check_is_asked_and_good(cluster: Cluster) -> None:
    checked = judge(cluster, good(cluster))
    assert {each.severity for each in checked.answers} == {CheckSeverity.OK}
    assert {each.id for each in checked.answers} == set(EXPLANATIONS)
    assert checked.exit_code is ExitCode.DONE


@pytest.mark.parametrize(
    ("word", "given", "severity"),
    [
        ("os-family", {"os": {"ID": "linuxmint", "ID_LIKE": "ubuntu debian"}}, "ok"),
        ("os-family", {"os": {"ID": "rocky", "ID_LIKE": "rhel centos fedora"}}, "ok"),
        ("os-family", {"os": {"ID": "alpine"}}, "warning"),
        ("os-family", {"os": {}}, "warning"),
        ("systemd", {"systemd": False}, "error"),
        ("unit-owner", {"units": {UNIT: ""}}, "ok"),
        ("unit-owner", {"units": {UNIT: "Description=Kafka broker 2 of trio"}}, "ok"),  # a host gets another id
        ("unit-owner", {"units": {UNIT: "Description=Kafka of ours"}}, "ok"),  # written by hand, before kcluster
        ("unit-owner", {"units": {UNIT: "Description=Kafka broker 1 of trio-2"}}, "error"),
        ("unit-owner", {"units": {UNIT: "Description=Spark worker on h1 of staging"}}, "error"),
        ("java-version", {"java": {"": None}}, "error"),
        ("java-version", {"java": {"": host_facts.JavaFacts("/usr/bin/java", "1.8.0_392")}}, "error"),
        ("java-version", {"java": {"": host_facts.JavaFacts("/usr/bin/java", "11.0.2")}}, "ok"),
        ("java-version", {"java": {"": host_facts.JavaFacts("/usr/bin/java", "")}}, "error"),
        ("memory-heap", {"memory": 2 * GIB}, "ok"),  # 1g + 512m are just 75 %
        ("memory-heap", {"memory": 2 * GIB - 4096}, "warning"),
        ("memory-heap", {"memory": 3 * GIB // 2}, "warning"),
        ("memory-heap", {"memory": 3 * GIB // 2 - 4096}, "error"),
        ("swap", {"swaps": ("/dev/sda2",)}, "warning"),
        ("swappiness", {"kernel": {"vm/swappiness": "10"}}, "ok"),
        ("swappiness", {"kernel": {"vm/swappiness": "60"}}, "info"),
        ("swappiness", {"kernel": {"vm/swappiness": "60"}, "swaps": ("/swap",)}, "warning"),
        ("max-map-count", {"kernel": {"vm/max_map_count": "262143"}}, "warning"),
        ("max-map-count", {"kernel": {}}, "ok"),
        ("open-files", {"kernel": {"fs/nr_open": "200000"}}, "ok"),
        ("open-files", {"kernel": {"fs/nr_open": "199999"}}, "error"),
        ("huge-pages", {"huge_pages": "always"}, "warning"),
        ("huge-pages", {"huge_pages": ""}, "ok"),
        ("login-shell", {"startup": 1.0}, "ok"),
        ("login-shell", {"startup": 1.1}, "warning"),
        ("login-shell", {"startup": None}, "ok"),
        ("sudo", {"root": False}, "error"),
    ],
)
def test_what_is_judged_of_a_host(cluster: Cluster, word: str, given: dict[str, Any], severity: str) -> None:
    assert told_of(cluster, with_host(good(cluster), "h2", **given), word) == severity


def test_a_host_of_another_cluster_is_told_with_both_names(cluster: Cluster) -> None:
    told = with_host(good(cluster), "h3", units={UNIT: "Description=Kafka broker 3 of staging"})
    (failed,) = (each for each in judge(cluster, told).answers if each.severity is CheckSeverity.ERROR)
    assert (failed.host, failed.found, failed.required) == ("h3", f"{UNIT} belongs to the cluster staging", "trio")
    assert "is ansible_host of h3 right?" in failed.fix
    assert "kcluster_name: staging" in failed.fix


def test_an_unreachable_host_makes_exit_code_6_and_the_others_are_judged(cluster: Cluster) -> None:
    told = good(cluster)
    del told.hosts["h2"], told.networks["h2"], told.skews["h2"]
    told.unreachable["h2"] = UnreachableError("h2: 10.0.0.2:22 does not answer", resolution="is it on?")
    checked = judge(cluster, told)
    (failed,) = (each for each in checked.answers if each.severity is CheckSeverity.ERROR)
    assert (failed.id, failed.host, failed.found, failed.fix) == (
        "ssh",
        "h2",
        "10.0.0.2:22 does not answer",
        "is it on?",
    )
    assert (checked.exit_code, checked.unreachable) == (ExitCode.UNREACHABLE, ("h2",))
    assert {each.host for each in checked.answers if each.id == "disk-space"} == {"h1", "h3"}


def test_a_host_without_sudo_or_python_is_reachable_and_says_what_is_missing(cluster: Cluster) -> None:
    told = good(cluster)
    for name in ("h1", "h2"):
        del told.hosts[name], told.networks[name], told.skews[name]
    told.no_sudo["h1"] = UnreachableError("h1: sudo wants a password for ann", resolution="add -K")
    told.no_python["h2"] = "there is no python3"
    checked = judge(cluster, told)
    errors = {(each.id, each.host) for each in checked.answers if each.severity is CheckSeverity.ERROR}
    assert errors == {("sudo", "h1"), ("python-version", "h2")}
    assert checked.exit_code is ExitCode.NO


def test_java_of_a_java_home_is_judged_by_itself(cluster: Cluster) -> None:
    home = {"JAVA_HOME": "/opt/java"}
    cluster = replace(cluster, brokers=tuple(broker(name, environment=home) for name in ("h1", "h2", "h3")))
    told = good(cluster)
    told = with_host(told, "h1", java={"": host_facts.JavaFacts("/usr/bin/java", "17"), "/opt/java": None})
    (failed,) = (each for each in judge(cluster, told).answers if each.severity is CheckSeverity.ERROR)
    assert (failed.found, failed.fixable) == ("no Java at JAVA_HOME=/opt/java", False)


def test_a_missing_java_that_provision_installs_is_a_warning(cluster: Cluster) -> None:
    told = with_host(good(cluster), "h1", java={"": None})
    assert told_of(replace(cluster, installs_java=True), told, "java-version") == "warning"


def test_strict_makes_a_warning_a_no(cluster: Cluster) -> None:
    told = with_host(good(cluster), "h1", swaps=("/swap",))
    assert judge(cluster, told).exit_code is ExitCode.DONE
    assert judge(cluster, told, strict=True).exit_code is ExitCode.NO


@pytest.mark.parametrize(
    ("word", "given", "severity"),
    [
        ("disk-space", {"free": GIB, "total": 5 * GIB}, "ok"),
        ("disk-space", {"free": GIB - 1, "total": 5 * GIB}, "error"),
        ("disk-space", {"free": 10 * GIB, "total": 100 * GIB}, "ok"),
        ("disk-space", {"free": 10 * GIB - 1, "total": 100 * GIB}, "warning"),
        ("disk-space", {"free": GIB - 1, "total": 5 * GIB, "entries": ("orders-0",)}, "warning"),  # it starts again
        ("disk-space", {"free": 0, "total": 5 * GIB, "entries": ("orders-0",)}, "error"),
        ("disk-space", {"free_inodes": 0}, "error"),
        ("disk-space", {"free_inodes": 0, "inodes": 0}, "ok"),  # btrfs counts none
        ("disk-filesystem", {"filesystem": "nfs4"}, "warning"),
        ("disk-filesystem", {"filesystem": "tmpfs"}, "warning"),
        ("disk-filesystem", {"filesystem": "xfs"}, "ok"),
        ("disk-read-only", {"read_only": True}, "error"),
        ("disk-mount", {"unmounted": "/var/lib/kafka"}, "error"),
        ("disk-owner", {"entries": ("orders-0",), "owner": 1000}, "error"),
        ("disk-owner", {"entries": ("lost+found",), "owner": 0}, "ok"),
        ("older-data", {"entries": ("orders-0",)}, "error"),
        ("older-data", {"entries": ("lost+found",), "no_partitions": ("lost+found",)}, "error"),
        ("older-data", {"entries": ("meta.properties", "old"), "meta": {"a": "b"}, "no_partitions": ("old",)}, "error"),
        ("older-data", {"entries": ("lost+found", ".lock", "recovery-point-offset-checkpoint")}, "ok"),
    ],
)
def test_what_is_judged_of_a_data_directory(cluster: Cluster, word: str, given: dict[str, Any], severity: str) -> None:
    assert told_of(cluster, with_directory(good(cluster), "h3", DATA, exists=True, **given), word) == severity


@pytest.mark.parametrize(
    ("times", "severity"),
    [
        ((1.0,) * 29 + (10.0,), "ok"),
        ((1.0,) * 29 + (11.0,), "warning"),
        ((1.0,) * 29 + (400.0,), "warning"),  # one late answer of a busy disk
        ((30.0,) * 29 + (101.0,), "error"),
        ((), "info"),
    ],
)
def test_a_slow_disk_of_the_metadata_log_is_told(cluster: Cluster, times: tuple[float, ...], severity: str) -> None:
    told = with_host(good(cluster), "h1", journals={KEEPER: host_facts.LogDiskFacts(times=times)})
    assert told_of(cluster, told, "fsync-latency") == severity


def used(cluster: Cluster, **metas: dict[str, str]) -> Any:
    """A cluster that has run: ZooKeeper has data, and each broker its meta.properties."""
    told = good(cluster)
    for name in list(told.hosts):
        number = name[1:]
        told = with_host(told, name, accounts={"kafka": 999})
        ours = {"exists": True, "owner": 999}
        if KEEPER in told.hosts[name].directories:
            told = with_directory(told, name, KEEPER, entries=("myid", "version-2"), myid=number, **ours)
        meta = metas.get(name, {**META, "broker.id": number})
        told = with_directory(told, name, DATA, entries=("meta.properties", "orders-0"), meta=meta, **ours)
    return told


def test_the_data_of_this_cluster_is_good(cluster: Cluster) -> None:
    assert judge(cluster, used(cluster)).ok


def test_another_id_on_the_disk_is_an_error_that_names_both(cluster: Cluster) -> None:
    checked = judge(cluster, used(cluster, h2={**META, "broker.id": "7"}))
    (failed,) = (each for each in checked.answers if each.severity is CheckSeverity.ERROR)
    assert (failed.id, failed.host, failed.found, failed.required) == (
        "node-id",
        "h2",
        "/var/lib/kafka is the data of id 7",
        "id 2",
    )


def test_another_myid_is_an_error(cluster: Cluster) -> None:
    told = with_directory(used(cluster), "h3", KEEPER, myid="1")
    assert told_of(cluster, told, "node-id") == "error"


def test_a_broker_of_another_cluster_is_the_one_that_differs(cluster: Cluster) -> None:
    checked = judge(cluster, used(cluster, h1={**META, "cluster.id": "theirs"}))
    (failed,) = (each for each in checked.answers if each.severity is CheckSeverity.ERROR)
    assert (failed.id, failed.host, failed.required) == ("cluster-id", "h1", "the cluster ours")


def test_brokers_with_data_beside_an_empty_zookeeper_are_an_older_cluster(cluster: Cluster) -> None:
    told = with_directory(good(cluster), "h1", DATA, exists=True, entries=("meta.properties",), meta=META)
    assert told_of(cluster, told, "older-data") == "error"
    prepared = with_directory(told, "h2", KEEPER, exists=True, entries=("myid",), myid="2")
    assert told_of(cluster, prepared, "older-data") == "error"  # a server that has an id and never ran
    told.unreachable["h2"] = UnreachableError("h2: gone")
    del told.hosts["h2"], told.networks["h2"], told.skews["h2"]
    assert told_of(cluster, told, "older-data") == "ok"  # a keeper that was not asked may have the data


def test_with_kraft_only_a_broker_that_has_run_is_an_older_cluster(cluster: Cluster) -> None:
    cluster = replace(cluster, metadata=Quorum((Controller(host=host_of("h1"), id=3001),), "ours"))
    formatted = {"exists": True, "entries": ("bootstrap.checkpoint", "meta.properties"), "meta": META}
    told = with_directory(good(cluster), "h1", DATA, **formatted)
    assert told_of(cluster, told, "older-data") == "ok"  # a first run that was interrupted before the controllers
    told = with_directory(told, "h1", DATA, entries=("meta.properties", "orders-0"))
    assert told_of(cluster, told, "older-data") == "error"


def test_a_part_of_a_cluster_without_keepers_says_nothing_about_them(cluster: Cluster) -> None:
    part = replace(cluster, metadata=Ensemble(()), brokers=cluster.brokers[:1])
    assert judge(part, used(part)).ok


def test_zookeeper_data_without_myid_is_not_ours(cluster: Cluster) -> None:
    told = with_directory(good(cluster), "h1", KEEPER, exists=True, entries=("version-2",))
    assert told_of(cluster, told, "older-data") == "error"


def test_with_kraft_the_cluster_id_of_the_inventory_counts(cluster: Cluster) -> None:
    quorum = Quorum((Controller(host=host_of("h1"), id=3001),), "wanted")
    cluster = replace(cluster, metadata=quorum)
    meta = {"node.id": "3001", "cluster.id": "other"}
    path = "/var/lib/kafka-controller"
    told = with_directory(good(cluster), "h1", path, exists=True, entries=("meta.properties",), meta=meta)
    assert told_of(cluster, told, "cluster-id") == "error"
    assert told_of(cluster, told, "node-id") == "ok"


def test_what_is_the_same_on_several_hosts_is_one_row_and_the_verdict_comes_last(cluster: Cluster) -> None:
    told = good(cluster)
    for name in ("h1", "h2"):
        told = with_host(told, name, java={"": None})
    *_, grid, way, more, verdict = [getattr(block, "text", block) for block in judge(cluster, told).view()]
    ((severity, word, hosts, found),) = grid.rows
    assert (severity.text, word, hosts) == ("error", "java-version", "h1 and h2")
    assert found == "no Java; needed: Java 11 or newer for Kafka 3.9.2"
    assert way == "  try: apt-get install openjdk-17-jre-headless  [java-version, h1 and h2]"
    assert "--fix" in more
    assert verdict.startswith("trio: ")
    assert verdict.endswith("checks passed; 2 errors")


def test_what_fix_tried_and_did_not_help_is_told_with_its_hosts(cluster: Cluster) -> None:
    before = judge(cluster, with_host(good(cluster), "h1", kernel={"vm/max_map_count": "65530"}))
    refused = replace(before, tried=before.fixable)
    assert "not repaired: max-map-count on h1" in [getattr(block, "text", block) for block in refused.view()]
    assert refused.data()["not_repaired"] == [{"id": "max-map-count", "host": "h1"}]
    assert refused.exit_code is ExitCode.DONE
    helped = replace(judge(cluster, good(cluster)), tried=before.fixable)
    assert not any("not repaired" in str(getattr(block, "text", block)) for block in helped.view())
