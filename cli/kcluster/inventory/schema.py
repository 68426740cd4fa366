"""The schema of an inventory: every variable with its level, type, default and description."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

PREFIXES = ("kafka_", "zookeeper_", "kcluster_", "spark_")
"""A variable with one of these prefixes that is not in the schema is refused."""

GROUPS = {
    "zookeeper": "the ZooKeeper servers",
    "kafka_controller": "the KRaft controllers",
    "kafka_broker": "the brokers",
    "spark_master": "the Spark masters",
    "spark_worker": "the Spark workers",
}
"""The groups and their hosts; a host may be in several."""


class VariableType(StrEnum):
    """The types of variables, as the documentation spells them."""

    TEXT = "text"
    VERSION = "release, in quotes"
    SECRET = "secret text"
    BOOLEAN = "true or false"
    INTEGER = "whole number"
    PORT = "port"
    PATH = "absolute path"
    PATHS = "list of absolute paths"
    TEXTS = "list of texts"
    HEAP = "memory size"
    PROPERTIES = "properties"
    LISTENERS = "list of listeners"
    TOPICS = "list of topics"


@dataclass(frozen=True)
class Variable:
    """One variable of the inventory."""

    name: str
    where: str
    """"all" (the same for the whole cluster), "group, host", "host", or "any" (levels add up key by key)."""
    type: VariableType
    default: str
    """As the documentation shows it; empty when the variable is required or stays unset."""
    meaning: str


_SCHEMA = (
    Variable(
        "kcluster_name",
        "all",
        VariableType.TEXT,
        "the inventory's name",
        "the cluster's name; commands that delete data ask for it",
    ),
    Variable("kafka_version", "all", VariableType.VERSION, "3.9.2", "the Kafka release to install"),
    Variable("kafka_scala_version", "all", VariableType.TEXT, "2.13", "the Scala version the release was built for"),
    Variable(
        "kafka_release_sources",
        "all",
        VariableType.TEXTS,
        "[cache, maven, url]",
        "where the release comes from, in the order to try: `cache`, `maven`, `url`, a path, or a URL",
    ),
    Variable(
        "kafka_release_sha512",
        "all",
        VariableType.TEXT,
        "",
        "the SHA-512 of the release's archive, as `sha512sum` prints it; outranks the packaged hash and one "
        "published beside the archive; required by a source with `http://`",
    ),
    Variable(
        "kafka_cluster_id",
        "all",
        VariableType.TEXT,
        "",
        "the id with which KRaft storage is formatted: 22 characters; never change it",
    ),
    Variable("zookeeper_id", "host", VariableType.INTEGER, "", "the server's id, 1 to 255; never change it"),
    Variable("kafka_broker_id", "host", VariableType.INTEGER, "", "the broker's id, 0 to 999; never change it"),
    Variable(
        "kafka_controller_id",
        "host",
        VariableType.INTEGER,
        "",
        "the KRaft controller's id, 3000 or more; never change it",
    ),
    Variable(
        "zookeeper_data_dir",
        "group, host",
        VariableType.PATH,
        "/var/lib/zookeeper",
        "the directory of a ZooKeeper server's snapshots and `myid`",
    ),
    Variable(
        "zookeeper_log_dir",
        "group, host",
        VariableType.PATH,
        "the data directory",
        "the directory of a ZooKeeper server's transaction log; best on a separate disk",
    ),
    Variable("zookeeper_client_port", "group, host", VariableType.PORT, "2181", "the port for clients: the brokers"),
    Variable(
        "zookeeper_peer_port",
        "group, host",
        VariableType.PORT,
        "2888",
        "the port for replication between ZooKeeper servers",
    ),
    Variable(
        "zookeeper_election_port",
        "group, host",
        VariableType.PORT,
        "3888",
        "the port for leader election between ZooKeeper servers",
    ),
    Variable(
        "zookeeper_chroot",
        "all",
        VariableType.TEXT,
        "",
        "the path in ZooKeeper for this cluster's metadata, such as /kafka",
    ),
    Variable(
        "kafka_listeners",
        "group, host",
        VariableType.LISTENERS,
        "internal on 9092",
        "the broker's listeners: a list of `name, port, protocol, host (to bind), advertised_host, advertised_port`",
    ),
    Variable(
        "kafka_inter_broker_listener",
        "group, host",
        VariableType.TEXT,
        "`internal`, or the first listener",
        "the listener for traffic between brokers",
    ),
    Variable(
        "kafka_data_dirs",
        "group, host",
        VariableType.PATHS,
        "[/var/lib/kafka]",
        "the broker's data directories, one for each disk; add new ones at the end",
    ),
    Variable(
        "kafka_rack",
        "group, host",
        VariableType.TEXT,
        "",
        "the rack or availability zone; replicas are spread over racks",
    ),
    Variable("kafka_heap", "group, host", VariableType.HEAP, "1g", "the heap of a broker"),
    Variable(
        "kafka_environment", "any", VariableType.PROPERTIES, "{}", "environment variables of brokers and controllers"
    ),
    Variable("kafka_controller_port", "group, host", VariableType.PORT, "9093", "the port of a KRaft controller"),
    Variable(
        "kafka_controller_data_dir",
        "group, host",
        VariableType.PATH,
        "/var/lib/kafka-controller",
        "the directory of a KRaft controller's metadata log",
    ),
    Variable("kafka_controller_heap", "group, host", VariableType.HEAP, "1g", "the heap of a KRaft controller"),
    Variable(
        "kafka_controller_environment",
        "any",
        VariableType.PROPERTIES,
        "{}",
        "environment variables of KRaft controllers only",
    ),
    Variable("zookeeper_heap", "group, host", VariableType.HEAP, "512m", "the heap of a ZooKeeper server"),
    Variable(
        "zookeeper_environment", "any", VariableType.PROPERTIES, "{}", "environment variables of ZooKeeper servers"
    ),
    Variable(
        "kafka_config",
        "any",
        VariableType.PROPERTIES,
        "{}",
        "properties of brokers and controllers, with Kafka's names",
    ),
    Variable("kafka_controller_config", "any", VariableType.PROPERTIES, "{}", "properties of KRaft controllers only"),
    Variable(
        "zookeeper_config",
        "any",
        VariableType.PROPERTIES,
        "{}",
        "properties of ZooKeeper servers, with ZooKeeper's names",
    ),
    Variable(
        "kafka_topics",
        "all",
        VariableType.TOPICS,
        "[]",
        "the topics for `kcluster topic apply`: a list of `name, partitions, replication_factor, config`",
    ),
    Variable(
        "kafka_client_properties",
        "all",
        VariableType.PROPERTIES,
        "{}",
        "client properties of kcluster and its jobs without `--client-config`, with the names of Java clients: "
        "`security.protocol, sasl.jaas.config, ssl.truststore.location`, ...; paths are relative to the inventory. "
        "Clients use the listener with this `security.protocol`",
    ),
    Variable(
        "kafka_user", "all", VariableType.TEXT, "kafka", "the user that runs brokers, controllers and ZooKeeper servers"
    ),
    Variable("kafka_group", "all", VariableType.TEXT, "kafka", "the group of that user"),
    Variable(
        "kafka_install_dir",
        "all",
        VariableType.PATH,
        "/opt/kafka",
        "the directory of the releases, one subdirectory for each version",
    ),
    Variable("kafka_config_dir", "all", VariableType.PATH, "/etc/kafka", "the directory of the configuration files"),
    Variable("kafka_log_dir", "all", VariableType.PATH, "/var/log/kafka", "the directory of the log files"),
    Variable(
        "kafka_install_java",
        "all",
        VariableType.BOOLEAN,
        "false",
        "install Java where it is missing or too old; if false, `check` and `provision` refuse such hosts",
    ),
    Variable(
        "spark_secret",
        "all",
        VariableType.SECRET,
        "",
        "the shared secret of Spark masters, workers and jobs; without it anyone who reaches a master can run programs",
    ),
    Variable(
        "spark_heap",
        "group, host",
        VariableType.HEAP,
        "512m",
        "the heap of a Spark master or worker (not of executors)",
    ),
    Variable("spark_master_port", "group, host", VariableType.PORT, "7077", "the port of a Spark master"),
    Variable("spark_master_web_port", "group, host", VariableType.PORT, "8080", "the port of a Spark master's web UI"),
    Variable("spark_worker_port", "group, host", VariableType.PORT, "7078", "the port of a Spark worker"),
    Variable("spark_worker_web_port", "group, host", VariableType.PORT, "8081", "the port of a Spark worker's web UI"),
    Variable("spark_worker_cores", "group, host", VariableType.INTEGER, "all", "the cores for a worker's executors"),
    Variable(
        "spark_worker_memory",
        "group, host",
        VariableType.HEAP,
        "the host's memory minus 1 GiB",
        "the memory for a worker's executors; set it where brokers run on the same host",
    ),
    Variable(
        "spark_work_dir",
        "group, host",
        VariableType.PATH,
        "/var/lib/spark",
        "the directory of jobs and of executors' temporary files",
    ),
    Variable(
        "spark_config",
        "any",
        VariableType.PROPERTIES,
        "{}",
        "properties of Spark masters and workers, with Spark's names",
    ),
    Variable(
        "spark_environment",
        "any",
        VariableType.PROPERTIES,
        "{}",
        "environment variables of Spark masters and workers",
    ),
    Variable(
        "spark_user", "all", VariableType.TEXT, "spark", "the user that runs Spark masters, workers and executors"
    ),
    Variable("spark_group", "all", VariableType.TEXT, "spark", "the group of that user"),
    Variable("spark_install_dir", "all", VariableType.PATH, "/opt/spark", "the directory where Spark is installed"),
    Variable(
        "spark_config_dir", "all", VariableType.PATH, "/etc/spark", "the directory of Spark's configuration files"
    ),
    Variable("spark_log_dir", "all", VariableType.PATH, "/var/log/spark", "the directory of Spark's log files"),
)

VARIABLES = {variable.name: variable for variable in _SCHEMA}
"""Every variable by its name, in the order of the documentation."""
