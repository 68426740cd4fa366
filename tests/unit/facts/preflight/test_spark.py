"""Spark's part of the preflight: one host has nothing but Spark, the others share theirs with Kafka."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import pytest

from kcluster.facts.preflight import host_facts, port_matrix
from kcluster.facts.preflight.check_results import CheckResult
from kcluster.facts.preflight.collect import host_query
from kcluster.facts.preflight.port_matrix import HERE
from kcluster.model.cluster import Cluster
from kcluster.model.listener import Listener
from kcluster.model.node import Places
from kcluster.model.spark_cluster import SparkCluster, SparkMaster, SparkWorker
from kcluster.operations.check import CheckSeverity, judge
from tests.unit.facts.preflight.conftest import good, host_of, with_directory, with_host, with_knocks

GIB = 1 << 30
WORK = "/var/lib/spark"
PLACES = Places(
    user="spark", group="spark", install_dir="/opt/spark", config_dir="/etc/spark", log_dir="/var/log/spark"
)


@pytest.fixture
def sparked(cluster: Cluster) -> Cluster:
    """The trio with a master on h1, and a master and a worker on h4, where nothing of Kafka is; a worker on h3."""
    masters = tuple(SparkMaster(host=host_of(name), heap="512m", places=PLACES) for name in ("h1", "h4"))
    workers = tuple(SparkWorker(host=host_of(name), heap="512m", memory="4g", places=PLACES) for name in ("h3", "h4"))
    return replace(cluster, engine=SparkCluster("trio", masters, workers, keepers="10.0.0.1:2181"))


def bad(cluster: Cluster, told: Any) -> list[CheckResult]:
    return [each for each in judge(cluster, told).answers if each.severity is not CheckSeverity.OK]


def test_a_host_with_spark_alone_is_asked_for_its_own_part(sparked: Cluster) -> None:
    assert bad(sparked, good(sparked)) == []
    asked = host_query(sparked, "h4")
    assert (asked["users"], asked["directories"], asked["ports"]) == (["spark"], [WORK], [7077, 7078, 8080, 8081])
    assert host_query(sparked, "h3")["users"] == ["kafka", "spark"]


@pytest.mark.parametrize(
    ("name", "version", "needed"),
    [
        ("h1", "11.0.2", "Java 17 or newer for Spark 4.1.3"),
        ("h4", "11.0.2", "Java 17 or newer for Spark 4.1.3"),
        ("h2", "11.0.2", None),
        ("h4", "17.0.15", None),
    ],
)
def test_the_one_java_of_a_host_is_enough_for_all_that_runs_there(
    sparked: Cluster, name: str, version: str, needed: str | None
) -> None:
    told = with_host(good(sparked), name, java={"": host_facts.JavaFacts("/usr/bin/java", version)})
    assert [each.required for each in bad(sparked, told)] == ([needed] if needed else [])


def test_a_java_of_its_own_is_asked_for_what_uses_it(sparked: Cluster) -> None:
    assert sparked.engine
    home = {"JAVA_HOME": "/opt/java17"}
    masters = tuple(replace(node, environment=home) for node in sparked.engine.masters)
    workers = tuple(replace(node, environment=home) for node in sparked.engine.workers)
    apart = replace(sparked, engine=replace(sparked.engine, masters=masters, workers=workers))
    javas = {
        "": host_facts.JavaFacts("/usr/bin/java", "11.0.2"),
        "/opt/java17": host_facts.JavaFacts("/opt/java17/bin/java", "17.0.1"),
    }
    assert bad(apart, with_host(good(apart), "h1", java=javas)) == []
    (failed,) = bad(apart, with_host(good(apart), "h1", java={**javas, "/opt/java17": None}))
    assert (failed.found, failed.fixable) == ("no Java at JAVA_HOME=/opt/java17", False)


@pytest.mark.parametrize(
    ("name", "memory", "severity"),
    [
        ("h3", 8.0, None),  # 1g + 512m + 512m of heaps and 4g for executors are 75 %
        ("h3", 7.9, "warning"),
        ("h3", 5.9, "error"),
        ("h4", 5.0, None),  # nobody there lives from the page cache
        ("h4", 4.9, "error"),
    ],
)
def test_executors_share_the_memory_of_a_host(sparked: Cluster, name: str, memory: float, severity: str | None) -> None:
    told = with_host(good(sparked), name, memory=int(memory * GIB))
    assert [each.severity for each in bad(sparked, told)] == ([severity] if severity else [])


def test_what_to_lower_is_named_and_no_limit_means_nearly_all(sparked: Cluster) -> None:
    assert sparked.engine
    workers = tuple(replace(node, memory="") for node in sparked.engine.workers)
    greedy = replace(sparked, engine=replace(sparked.engine, workers=workers))
    (failed,) = bad(greedy, with_host(good(greedy), "h3", memory=16 * GIB))
    assert failed.found == "heaps of 2.0 GiB and 15.0 GiB for executors in 16.0 GiB of memory"
    assert failed.fix == "lower kafka_heap and spark_heap and spark_worker_memory and zookeeper_heap of h3"


def test_the_work_of_executors_needs_room_and_its_owner_but_no_identity(sparked: Cluster) -> None:
    full = with_directory(good(sparked), "h4", WORK, free=1000)
    assert [(each.id, each.host) for each in bad(sparked, full)] == [("disk-space", "h4")]
    theirs = with_host(good(sparked), "h4", accounts={"spark": 998})
    used = {"exists": True, "entries": ("app-20261118-0001",), "meta": {"broker.id": "9"}}
    assert bad(sparked, with_directory(theirs, "h4", WORK, owner=998, **used)) == []
    (failed,) = bad(sparked, with_directory(theirs, "h4", WORK, owner=0, **used))
    assert (failed.id, failed.required) == ("disk-owner", "owned by spark")


def test_a_port_of_spark_is_free_or_its_own_units(sparked: Cluster) -> None:
    ours = {
        7077: host_facts.PortUser(1, "java", "spark-master.service"),
        8081: host_facts.PortUser(2, "java", "spark-worker.service"),
    }
    assert bad(sparked, with_host(good(sparked), "h4", ports=ours)) == []
    (failed,) = bad(
        sparked, with_host(good(sparked), "h4", ports={8080: host_facts.PortUser(3, "tomcat", "tomcat.service")})
    )
    assert failed.found == "port 8080 of spark-master-h4 is held by pid 3, tomcat"


def test_who_calls_whom(sparked: Cluster) -> None:
    found = {(door.host, door.port): (door.callers, door.vital) for door in port_matrix.port_requirements(sparked)}
    assert found["h1", 7077] == (("h3", "h4", HERE), ("h3", "h4"))
    assert found["h4", 7077] == (("h3", "h1", HERE), ("h3",))
    assert found["h4", 8080] == ((HERE,), (HERE,))
    assert found["h3", 7078] == (("h1", "h4"), ("h1", "h4"))
    assert found["h2", 2181] == (("h1", "h3", "h4", HERE), ("h1", "h3", "h4", HERE))
    assert found["h2", 9092] == (("h1", "h3", "h4", HERE), ("h1", "h3", "h4", HERE))
    assert found["h2", 2888] == (("h1", "h3"), ("h1", "h3"))


def test_of_several_listeners_executors_use_one_and_nobody_here_knows_which(sparked: Cluster) -> None:
    outside = Listener(name="external", port=9094, advertised_host="10.0.0.2", advertised_port=9094)
    second = replace(sparked.brokers[1], listeners=(*sparked.brokers[1].listeners, outside))
    doubled = replace(sparked, brokers=(sparked.brokers[0], second, sparked.brokers[2]))
    (warned,) = bad(doubled, with_knocks(good(doubled), "h4", "refused", ("10.0.0.2", 9092)))
    assert (warned.severity, warned.found) == (
        "warning",
        "port 9092 of h2 cannot be reached from h4: connection refused",
    )


def test_a_worker_that_does_not_reach_a_master_is_an_error(sparked: Cluster) -> None:
    (failed,) = bad(sparked, with_knocks(good(sparked), "h3", "timed out", ("10.0.0.4", 7077)))
    assert (failed.severity, failed.found) == ("error", "port 7077 of h4 cannot be reached from h3: timed out")


def test_an_own_name_on_loopback_makes_a_master_deaf(sparked: Cluster) -> None:
    told = good(sparked)
    told.networks["h4"] = replace(told.networks["h4"], own_names={"10.0.0.4": ("127.0.1.1",)})
    (failed,) = bad(sparked, told)
    assert (failed.id, failed.severity) == ("own-name", "error")
