"""Which log files a node writes and which logger goes where; every file is bounded in size and number."""

from __future__ import annotations

from dataclasses import dataclass

from kcluster.model.node import Kind, Node


@dataclass(frozen=True)
class LogFile:
    """One rolling file: at most `size` each, at most `count` old ones."""

    name: str
    file: str
    size: str = "50MB"
    count: str = "5"


@dataclass(frozen=True)
class Logger:
    """One logger with its level, and the file it writes to."""

    name: str
    level: str
    to: str = "main"


@dataclass(frozen=True)
class Logs:
    """The logging of one kind of node. The first file is the main one."""

    files: tuple[LogFile, ...]
    loggers: tuple[Logger, ...]


_ZOOKEEPER = Logs(
    (LogFile("main", "zookeeper.log", "100MB", "10"),),
    (
        # Each health check would write two lines at INFO.
        Logger("org.apache.zookeeper.server.NIOServerCnxn", "WARN"),
        Logger("org.apache.zookeeper.server.NettyServerCnxn", "WARN"),
    ),
)

_CONTROLLER = Logs(
    (LogFile("main", "kafka-controller.log", "100MB", "10"), LogFile("authorizer", "kafka-controller-authorizer.log")),
    (
        Logger("kafka.request.logger", "WARN"),
        Logger("state.change.logger", "INFO"),
        Logger("kafka.authorizer.logger", "INFO", "authorizer"),
    ),
)

_BROKER = Logs(
    (
        LogFile("main", "server.log", "100MB", "10"),
        LogFile("stateChange", "state-change.log"),
        LogFile("controller", "controller.log"),
        LogFile("cleaner", "log-cleaner.log"),
        LogFile("request", "kafka-request.log"),
        LogFile("authorizer", "kafka-authorizer.log"),
    ),
    (
        Logger("state.change.logger", "INFO", "stateChange"),
        Logger("kafka.controller", "INFO", "controller"),
        Logger("kafka.log.LogCleaner", "INFO", "cleaner"),
        Logger("org.apache.kafka.storage.internals.log.LogCleaner", "INFO", "cleaner"),
        Logger("kafka.request.logger", "WARN", "request"),
        Logger("kafka.network.RequestChannel$", "WARN", "request"),
        Logger("kafka.authorizer.logger", "INFO", "authorizer"),
    ),
)

_OF_KINDS = {
    Kind.ZOOKEEPER: _ZOOKEEPER,
    Kind.CONTROLLER: _CONTROLLER,
    Kind.BROKER: _BROKER,
    Kind.SPARK_MASTER: Logs((LogFile("main", "spark-master.log"),), ()),
    Kind.SPARK_WORKER: Logs((LogFile("main", "spark-worker.log"),), ()),
}


def of(kind: Kind) -> Logs:
    """The log files and loggers of one kind of node."""
    return _OF_KINDS[kind]


def main_file(node: Node) -> str:
    """The path of a node's main log file on its host."""
    return f"{node.places.log_dir}/{of(node.kind).files[0].file}"
