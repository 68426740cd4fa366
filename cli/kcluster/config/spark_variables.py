"""The properties and template variables of Spark masters and workers."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from dataclasses import asdict
from typing import Any

from kcluster.config import escaping, log_files
from kcluster.config.file_paths import UNITS, Paths, data_dirs, paths
from kcluster.config.setting import Setting
from kcluster.config.unit_titles import title
from kcluster.model.node import Kind
from kcluster.model.spark_cluster import SparkCluster, SparkDaemon, SparkMaster, SparkWorker

_CLASSES = {
    Kind.SPARK_MASTER: "org.apache.spark.deploy.master.Master",
    Kind.SPARK_WORKER: "org.apache.spark.deploy.worker.Worker",
}
_EXECUTORS_LOG = "limits the logs of an executor to 64 MiB"


def settings(engine: SparkCluster, daemon: SparkDaemon) -> tuple[Setting, ...]:
    """Every property of a daemon with its origin; the inventory overrides defaults, but no owned property."""
    owned = {setting.key: setting for setting in _owned(engine, daemon)}
    chosen = {setting.key: setting for setting in _defaults(daemon)}
    for layer in daemon.layers:
        chosen |= {key: Setting(key, value, layer.source) for key, value in sorted(layer.properties.items())}
    return (*owned.values(), *(setting for key, setting in chosen.items() if key not in owned))


def for_daemon(
    engine: SparkCluster, daemon: SparkDaemon, properties: Iterable[dict[str, str]], *, reveal: bool
) -> dict[str, Any]:
    """The template variables of one daemon; `properties` are its escaped settings."""
    places = paths(daemon, log4j2=True)
    where, unit = daemon.places, UNITS[daemon.kind]
    logs = log_files.of(daemon.kind)
    values = {
        "title": title(daemon, engine.name),
        "properties": list(properties),
        "environment": _environment(daemon, places, reveal),
        "log_dir": where.log_dir,
        "log_files": [asdict(file) for file in logs.files],
        "user": where.user,
        "group": where.group,
        "install_dir": where.install_dir,
        "unit": unit,
        "command": " ".join(_command(engine, daemon, places)),
        "config_file": places.config,
        "environment_file": places.environment,
        "logging_file": places.logging,
        "unit_file": places.unit,
        "data_dirs": list(data_dirs(daemon)),
        "scratch_dirs": [_scratch(daemon)] if isinstance(daemon, SparkWorker) else [],
        "keepers": [_as_bash(engine.keepers)] if isinstance(daemon, SparkMaster) and engine.keepers else [],
        "after": ["spark-master.service"] if isinstance(daemon, SparkWorker) else ["zookeeper.service"],
    }
    return {f"spark_daemon_{word}": value for word, value in values.items()}


def _owned(engine: SparkCluster, daemon: SparkDaemon) -> Iterator[Setting]:
    if isinstance(daemon, SparkMaster):
        yield from _leader_election(engine)
    if engine.secret:
        yield Setting("spark.authenticate", "true", "kcluster", "spark_secret is set")
        yield Setting(
            "spark.authenticate.secret",
            engine.secret,
            "kcluster",
            "authenticates masters, workers and jobs: spark_secret",
        )


def _as_bash(keepers: str) -> str:
    """The ZooKeeper servers in the form of bash's /dev/tcp: "h1/2181 h2/2181"."""
    return " ".join("/".join(server.rsplit(":", 1)) for server in keepers.split(","))


def _leader_election(engine: SparkCluster) -> Iterator[Setting]:
    if engine.keepers:
        yield Setting(
            "spark.deploy.recoveryMode", "ZOOKEEPER", "kcluster", "another master takes over when the leader fails"
        )
        yield Setting("spark.deploy.zookeeper.url", engine.keepers, "kcluster", "all servers of the group zookeeper")
        yield Setting(
            "spark.deploy.zookeeper.dir", f"/spark/{engine.name}", "kcluster", "a path per cluster: kcluster_name"
        )
        return
    yield Setting(
        "spark.deploy.recoveryMode", "FILESYSTEM", "kcluster", "the master recovers its workers after a restart"
    )
    yield Setting("spark.deploy.recoveryDirectory", "/var/lib/spark-master", "kcluster", "created by systemd")


def _defaults(daemon: SparkDaemon) -> Iterator[Setting]:
    yield Setting("spark.port.maxRetries", "0", "default", "a daemon must not move to another port")
    if isinstance(daemon, SparkMaster):
        yield Setting(
            "spark.ui.killEnabled", "false", "default", "the web UI has no authentication, so it is read-only"
        )
    if isinstance(daemon, SparkWorker):
        yield Setting("spark.worker.cleanup.enabled", "true", "default", "deletes the files of ended jobs after 7 days")
        yield Setting("spark.executor.logs.rolling.strategy", "size", "default", _EXECUTORS_LOG)
        yield Setting("spark.executor.logs.rolling.maxSize", "16777216", "default", _EXECUTORS_LOG)
        yield Setting("spark.executor.logs.rolling.maxRetainedFiles", "4", "default", _EXECUTORS_LOG)


def _command(engine: SparkCluster, daemon: SparkDaemon, places: Paths) -> Iterator[str]:
    """The class of a daemon and its arguments."""
    yield from (_CLASSES[daemon.kind], "--properties-file", places.config, "--host", daemon.host.address)
    yield from ("--port", str(daemon.port), "--webui-port", str(daemon.web_port))
    if isinstance(daemon, SparkWorker):
        yield from ("--work-dir", f"{daemon.work_dir}/jobs")
        yield from ("--cores", str(daemon.cores)) if daemon.cores else ()
        yield from ("--memory", daemon.memory) if daemon.memory else ()
        yield engine.url


def _scratch(worker: SparkWorker) -> str:
    """The directory of executors' temporary files; /tmp may be in memory.

    It is not among the directories of jobs: Spark deletes what lies there without a new file for a week, unless it is
    the directory of a running job.
    """
    return f"{worker.work_dir}/scratch"


def _environment(daemon: SparkDaemon, places: Paths, reveal: bool) -> list[dict[str, str]]:
    ours = {
        "SPARK_CONF_DIR": daemon.places.config_dir,
        "SPARK_DAEMON_MEMORY": daemon.heap,
        # A process out of memory must exit, so that systemd restarts it.
        "SPARK_DAEMON_JAVA_OPTS": f"-XX:+ExitOnOutOfMemoryError -Dlog4j2.configurationFile=file:{places.logging}",
        "SPARK_LOG_DIR": daemon.places.log_dir,
    }
    if isinstance(daemon, SparkWorker):
        ours["SPARK_LOCAL_DIRS"] = _scratch(daemon)
    theirs = {name: value if reveal else escaping.masked(name, value) for name, value in daemon.environment.items()}
    if options := theirs.get("SPARK_DAEMON_JAVA_OPTS"):
        theirs["SPARK_DAEMON_JAVA_OPTS"] = f"{ours['SPARK_DAEMON_JAVA_OPTS']} {options}"
    both = ours | dict(sorted(theirs.items()))
    return [{"name": name, "value": escaping.environment_value(value)} for name, value in both.items()]
