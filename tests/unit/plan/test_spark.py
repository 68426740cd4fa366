"""The plan of Spark: an account, a release and folders of its own, and restarts of its own."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace

from kcluster import plan as planning
from kcluster import render
from kcluster.config.file_paths import data_dirs
from kcluster.model.node import Layer
from kcluster.model.observed import (
    ObservedDirectory,
    ObservedFile,
    ObservedHost,
    ObservedNode,
    ObservedUnit,
    Preparation,
)
from kcluster.model.spark_cluster import SparkCluster, SparkDaemon, SparkWorker
from kcluster.plan import Action, Plan, Roles
from tests.unit.model.test_spark_cluster import ENGINE
from tests.unit.plan.observed_hosts import KERNEL, OLD, altered, plan, reasons, text_of
from tests.unit.plan.observed_hosts import bare as bare_kafka
from tests.unit.plan.observed_hosts import running as running_kafka

RELEASE = "spark-4.1.3"
WORKER = ENGINE.workers[0]


def running(engine: SparkCluster) -> dict[str, ObservedHost]:
    """Hosts on which everything of Spark is as the inventory says."""
    return {
        host.name: ObservedHost(
            host.name,
            java="17.0.19",
            releases=(RELEASE,),
            current=RELEASE,
            nodes={node.name: _runs(engine, node) for node in engine.on(host)},
        )
        for host in engine.hosts
    }


def _runs(engine: SparkCluster, node: SparkDaemon) -> ObservedNode:
    files = render.files(engine, node, reveal=True)
    return ObservedNode(
        ObservedUnit("active", enabled=True, pid=100),
        files={
            file.path: ObservedFile(file.text, f"root:{'spark' if file.mode == '0640' else 'root'} {file.mode}")
            for file in files
        },
        started_with={file.path: file.text for file in files},
        started_release=RELEASE,
        link=RELEASE,
        directories={
            path: ObservedDirectory("spark:spark 0750", "/", "ext4", 10**10, 10**11, empty=False)
            for path in data_dirs(node)
        },
    )


def bare(engine: SparkCluster) -> dict[str, ObservedHost]:
    preparation = Preparation(changes=(("group spark", "", ""), ("directory /opt/spark", "", "root:root 0755"), KERNEL))
    return {host.name: ObservedHost(host.name, java="17.0.19", preparation=preparation) for host in engine.hosts}


def of(engine: SparkCluster, seen: Mapping[str, ObservedHost], leader: str = "") -> Plan:
    return planning.plan(engine, seen, Roles(spark_leader=leader))


def configured(**config: str) -> SparkCluster:
    """The same Spark with other properties on its workers."""
    layer = Layer("group spark_worker", {key.replace("_", "."): value for key, value in config.items()})
    return replace(ENGINE, workers=tuple(replace(worker, layers=(layer,)) for worker in ENGINE.workers))


def test_hosts_that_are_as_they_shall_be_have_nothing_to_do() -> None:
    found = of(ENGINE, running(ENGINE))
    assert found.nothing
    assert not found.fresh


def test_a_bare_host_gets_an_account_a_release_and_everything_else_of_its_own() -> None:
    found = of(ENGINE, bare(ENGINE))
    assert [(change.action, change.what) for change in found.changes if change.host == "s1"] == [
        (Action.CREATE, "group spark"),
        (Action.CREATE, "directory /opt/spark"),
        (Action.CHANGE, "kernel vm.swappiness"),
        (Action.PUSH, "release spark-4.1.3"),
        (Action.CREATE, "current -> spark-4.1.3"),
        (Action.CREATE, "directory /var/lib/spark"),
        (Action.CREATE, "current-spark-worker -> spark-4.1.3"),
        (Action.CREATE, "/etc/spark/spark-worker.properties"),
        (Action.CREATE, "/etc/spark/spark-worker-log4j2.properties"),
        (Action.CREATE, "/etc/spark/spark-worker.env"),
        (Action.CREATE, "/etc/systemd/system/spark-worker.service"),
    ]
    assert [start.node for start in found.starts] == [node.name for node in ENGINE.nodes]
    assert found.fresh
    assert "sesame" not in f"{found.data()}{text_of(found)}"


def test_beside_kafka_that_runs_spark_is_planned_alone_and_both_make_one_plan() -> None:
    cluster = replace(OLD, engine=ENGINE)
    found = planning.joined([plan(cluster, running_kafka(cluster)), of(ENGINE, bare(ENGINE))])
    assert {change.host for change in found.changes} == {"h1", "h2", "s1"}
    assert {start.node for start in found.starts} == {node.name for node in ENGINE.nodes}
    assert not found.fresh


def test_a_change_that_kafka_and_spark_both_need_is_planned_once() -> None:
    cluster = replace(OLD, engine=ENGINE)
    found = planning.joined([plan(cluster, bare_kafka(cluster)), of(ENGINE, bare(ENGINE))])
    kernel = [change.host for change in found.changes if change.what == "kernel vm.swappiness"]
    assert sorted(kernel) == sorted({host.name for part in (cluster, ENGINE) for host in part.hosts})


def test_a_property_of_workers_restarts_workers_and_names_it() -> None:
    found = of(configured(spark_worker_timeout="30"), running(ENGINE))
    assert reasons(found) == {
        "spark-worker-h2": "spark.worker.timeout set to 30",
        "spark-worker-s1": "spark.worker.timeout set to 30",
    }
    assert not found.settings


def test_another_secret_restarts_every_daemon_and_is_hidden() -> None:
    found = of(replace(ENGINE, secret="hush"), running(ENGINE))
    assert reasons(found) == {node.name: "spark.authenticate.secret (a secret changes)" for node in ENGINE.nodes}
    said = f"{found.data()}{text_of(found)}"
    assert "sesame" not in said
    assert "hush" not in said


def test_more_memory_for_executors_is_another_line_of_the_unit() -> None:
    grown = replace(ENGINE, workers=(replace(WORKER, memory="4g"), *ENGINE.workers[1:]))
    assert reasons(of(grown, running(ENGINE))) == {"spark-worker-h2": "the unit changes: ExecStart"}


def test_masters_go_before_workers_and_the_one_that_leads_goes_last_of_them() -> None:
    seen = {
        name: replace(
            host, nodes={node: replace(one, started_release="spark-4.1.2") for node, one in host.nodes.items()}
        )
        for name, host in running(ENGINE).items()
    }
    found = of(ENGINE, seen, leader="spark-master-h1")
    assert [(restart.node, restart.last) for restart in found.restarts] == [
        ("spark-master-h2", ""),
        ("spark-master-h1", "leading Spark master"),
        ("spark-worker-h2", ""),
        ("spark-worker-s1", ""),
    ]
    assert not found.refused
    assert found.restarts[0].reasons == ("release spark-4.1.2 -> spark-4.1.3",)


def test_a_daemon_that_does_not_run_is_started_and_one_that_does_not_start_with_its_host_is_enabled() -> None:
    seen = altered(running(ENGINE), "s1", "spark-worker-s1", unit=ObservedUnit("failed"))
    found = of(ENGINE, seen)
    assert [start.node for start in found.starts] == ["spark-worker-s1"]
    assert [(change.action, change.what) for change in found.changes] == [(Action.ENABLE, "spark-worker.service")]


def test_a_java_that_kafka_could_use_is_too_old_for_spark() -> None:
    seen = running(ENGINE)
    found = of(ENGINE, {**seen, "s1": replace(seen["s1"], java="11.0.2")})
    assert "Java 17 or newer (found 11.0.2; " in text_of(found)


def test_a_folder_of_somebody_else_is_given_to_spark() -> None:
    kept = {"/data/spark": ObservedDirectory("root:root 0755", "/", "ext4", 10**10, 10**11, empty=True)}
    moved = replace(ENGINE, workers=(SparkWorker(host=WORKER.host, work_dir="/data/spark"),))
    found = of(moved, altered(running(moved), "h2", "spark-worker-h2", directories=kept))
    assert [(change.what, change.note) for change in found.changes] == [
        ("directory /data/spark", "root:root 0755 -> spark:spark 0750")
    ]
