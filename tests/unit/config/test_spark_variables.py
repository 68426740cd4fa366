"""What Spark's masters and workers are told: who leads, the secret, their arguments, and what people set."""

from __future__ import annotations

from dataclasses import replace

from kcluster.config import node_variables, properties
from kcluster.config.setting import Setting
from kcluster.model.node import Layer
from kcluster.model.spark_cluster import SparkCluster, SparkDaemon, SparkWorker
from tests.unit.model.test_spark_cluster import ENGINE

MASTER, WORKER = ENGINE.masters[0], ENGINE.workers[0]
KEPT = replace(ENGINE, keepers="10.0.0.1:2181,10.0.0.2:2181")


def told(engine: SparkCluster, daemon: SparkDaemon) -> dict[str, str]:
    return {setting.key: setting.value for setting in properties.settings(engine, daemon)}


def value(daemon: SparkDaemon, word: str, *, reveal: bool = False) -> str:
    return str(node_variables.for_node(ENGINE, daemon, reveal=reveal)[f"spark_daemon_{word}"])


def environment(daemon: SparkDaemon) -> dict[str, str]:
    found = node_variables.for_node(ENGINE, daemon)["spark_daemon_environment"]
    return {variable["name"]: variable["value"] for variable in found}


def test_masters_agree_through_zookeeper_in_a_folder_of_the_cluster() -> None:
    said = told(KEPT, MASTER)
    assert said["spark.deploy.recoveryMode"] == "ZOOKEEPER"
    assert said["spark.deploy.zookeeper.url"] == "10.0.0.1:2181,10.0.0.2:2181"
    assert said["spark.deploy.zookeeper.dir"] == "/spark/demo"
    assert not any(key.startswith("spark.deploy.") for key in told(KEPT, WORKER))


def test_one_master_without_zookeeper_keeps_what_it_knows_in_a_folder() -> None:
    said = told(ENGINE, MASTER)
    assert said["spark.deploy.recoveryMode"] == "FILESYSTEM"
    assert said["spark.deploy.recoveryDirectory"] == "/var/lib/spark-master"


def test_the_page_of_a_master_only_shows_unless_people_want_more() -> None:
    assert told(ENGINE, MASTER)["spark.ui.killEnabled"] == "false"
    wanted = replace(MASTER, layers=(Layer("cluster", {"spark.ui.killEnabled": "true"}),))
    assert told(ENGINE, wanted)["spark.ui.killEnabled"] == "true"


def test_the_secret_is_told_to_every_daemon_and_shown_to_nobody() -> None:
    for daemon in ENGINE.nodes:
        assert told(ENGINE, daemon)["spark.authenticate"] == "true"
        assert told(ENGINE, daemon)["spark.authenticate.secret"] == "sesame"
        assert "sesame" not in str(node_variables.for_node(ENGINE, daemon))
        assert "'sesame'" in value(daemon, "properties", reveal=True)
    assert "spark.authenticate" not in told(replace(ENGINE, secret=""), WORKER)


def test_what_people_set_wins_level_by_level_and_says_where_it_is_from() -> None:
    layers = (
        Layer("cluster", {"spark.worker.cleanup.enabled": "false", "spark.x": "1"}),
        Layer("host h2", {"spark.x": "2"}),
    )
    found = properties.settings(ENGINE, replace(WORKER, layers=layers))
    assert Setting("spark.worker.cleanup.enabled", "false", "cluster") in found
    assert Setting("spark.x", "2", "host h2") in found


def test_the_line_of_a_worker_names_every_master_and_limits_only_where_they_are_said() -> None:
    line = value(WORKER, "command")
    assert line == (
        "org.apache.spark.deploy.worker.Worker --properties-file /etc/spark/spark-worker.properties --host 10.0.0.2 "
        "--port 7078 --webui-port 8081 --work-dir /var/lib/spark/jobs spark://10.0.0.1:7077,10.0.0.2:7177"
    )
    limited = value(replace(WORKER, cores=2, memory="3g"), "command")
    assert " --cores 2 --memory 3g spark://" in limited
    assert value(ENGINE.masters[1], "command").endswith("--host 10.0.0.2 --port 7177 --webui-port 8080")


def test_what_executors_put_aside_is_not_among_what_is_cleaned_while_they_run() -> None:
    moved: SparkWorker = replace(WORKER, work_dir="/data/spark")
    assert environment(moved)["SPARK_LOCAL_DIRS"] == "/data/spark/scratch"
    assert "--work-dir /data/spark/jobs " in value(moved, "command")
    assert node_variables.for_node(ENGINE, moved)["spark_daemon_scratch_dirs"] == ["/data/spark/scratch"]
    assert node_variables.for_node(ENGINE, MASTER)["spark_daemon_scratch_dirs"] == []
    assert "SPARK_LOCAL_DIRS" not in environment(MASTER)


def test_options_of_people_come_after_ours_and_their_passwords_are_hidden() -> None:
    holder = replace(MASTER, environment={"SPARK_DAEMON_JAVA_OPTS": "-Dx.password=hush", "SPARK_DAEMON_MEMORY": "1g"})
    said = environment(holder)
    assert said["SPARK_DAEMON_JAVA_OPTS"].startswith("-XX:+ExitOnOutOfMemoryError ")
    assert said["SPARK_DAEMON_JAVA_OPTS"].endswith(" -Dx.password=********")
    assert said["SPARK_DAEMON_MEMORY"] == "1g"
    assert environment(MASTER)["SPARK_DAEMON_MEMORY"] == "512m"


def test_a_master_waits_for_the_zookeeper_without_which_it_would_never_lead() -> None:
    def keepers(engine: SparkCluster, daemon: SparkDaemon) -> list[str]:
        return list(node_variables.for_node(engine, daemon)["spark_daemon_keepers"])

    assert keepers(KEPT, MASTER) == ["10.0.0.1/2181 10.0.0.2/2181"]
    assert keepers(KEPT, WORKER) == keepers(ENGINE, MASTER) == []


def test_a_daemon_takes_no_port_but_its_own() -> None:
    assert {told(ENGINE, daemon)["spark.port.maxRetries"] for daemon in ENGINE.nodes} == {"0"}
