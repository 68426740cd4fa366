"""The words people write: every variable of an inventory, where it belongs, its type, its default and its meaning."""

from __future__ import annotations

from dataclasses import dataclass
from enum import StrEnum

PREFIXES = ("kafka_", "zookeeper_", "kcluster_", "spark_")
"""Whatever begins with one of these and is not a word below is refused."""

GROUPS = {
    "zookeeper": "the ZooKeeper servers",
    "kafka_controller": "the KRaft controllers",
    "kafka_broker": "the brokers",
    "spark_master": "the Spark masters",
    "spark_worker": "the Spark workers",
}
"""The groups and who is in them; a host may be in several."""


class VariableType(StrEnum):
    """The types of words, as the documentation spells them."""

    TEXT = "text"
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
    """As the documentation shows it; empty when there is none and the word is needed or stays unset."""
    meaning: str


_WORDS = (
    Variable(
        "kcluster_name",
        "all",
        VariableType.TEXT,
        "the inventory's name",
        "the cluster's name; asked for by everything that deletes",
    ),
    Variable("kafka_version", "all", VariableType.TEXT, "3.9.2", "the Kafka release to install"),
    Variable("kafka_scala_version", "all", VariableType.TEXT, "2.13", "the Scala version the release was built for"),
    Variable(
        "kafka_release_sources",
        "all",
        VariableType.TEXTS,
        "[cache, maven, url]",
        "where the release comes from, in the order to try: `cache`, `maven`, `url`, a path, or a URL",
    ),
    Variable(
        "kafka_cluster_id",
        "all",
        VariableType.TEXT,
        "",
        "the id a KRaft cluster is formatted with: 22 characters, made once",
    ),
    Variable("zookeeper_id", "host", VariableType.INTEGER, "", "the server's id, 1 to 255; written, never counted"),
    Variable("kafka_broker_id", "host", VariableType.INTEGER, "", "the broker's id, 0 to 999; written, never counted"),
    Variable(
        "kafka_controller_id",
        "host",
        VariableType.INTEGER,
        "",
        "the KRaft controller's id, 3000 or more; written, never counted",
    ),
    Variable(
        "zookeeper_data_dir",
        "group, host",
        VariableType.PATH,
        "/var/lib/zookeeper",
        "where a ZooKeeper server keeps its snapshots and `myid`",
    ),
    Variable(
        "zookeeper_log_dir",
        "group, host",
        VariableType.PATH,
        "the data directory",
        "where it writes its transaction log; best on a disk of its own",
    ),
    Variable("zookeeper_client_port", "group, host", VariableType.PORT, "2181", "the port brokers connect to"),
    Variable(
        "zookeeper_peer_port", "group, host", VariableType.PORT, "2888", "the port the servers follow their leader on"
    ),
    Variable(
        "zookeeper_election_port",
        "group, host",
        VariableType.PORT,
        "3888",
        "the port the servers elect their leader on",
    ),
    Variable(
        "zookeeper_chroot",
        "all",
        VariableType.TEXT,
        "",
        "the path under which the brokers keep everything, such as /kafka",
    ),
    Variable(
        "kafka_listeners",
        "group, host",
        VariableType.LISTENERS,
        "internal on 9092",
        "the broker's doors: a list of `name, port, protocol, host (to bind), advertised_host, advertised_port`",
    ),
    Variable(
        "kafka_inter_broker_listener",
        "group, host",
        VariableType.TEXT,
        "`internal`, or the first listener",
        "the listener the brokers use among themselves",
    ),
    Variable(
        "kafka_data_dirs",
        "group, host",
        VariableType.PATHS,
        "[/var/lib/kafka]",
        "the broker's data directories, one for each disk; new ones come last",
    ),
    Variable("kafka_rack", "group, host", VariableType.TEXT, "", "the rack or zone; replicas are spread over racks"),
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
        "where a KRaft controller keeps the metadata",
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
        "any property of brokers and controllers, in Kafka's own spelling",
    ),
    Variable("kafka_controller_config", "any", VariableType.PROPERTIES, "{}", "any property of KRaft controllers only"),
    Variable(
        "zookeeper_config",
        "any",
        VariableType.PROPERTIES,
        "{}",
        "any property of ZooKeeper servers, in ZooKeeper's own spelling",
    ),
    Variable(
        "kafka_topics",
        "all",
        VariableType.TOPICS,
        "[]",
        "what `kcluster topic apply` brings into being: a list of `name, partitions, replication_factor, config`",
    ),
    Variable(
        "kafka_client_properties",
        "all",
        VariableType.PROPERTIES,
        "{}",
        "what kcluster and its jobs say to the brokers when there is no `--client-config`, as Java's clients spell it: "
        "`security.protocol, sasl.jaas.config, ssl.truststore.location`, ...; files are beside the inventory. Clients "
        "use the listener that speaks this `security.protocol`",
    ),
    Variable("kafka_user", "all", VariableType.TEXT, "kafka", "the user that runs every node"),
    Variable("kafka_group", "all", VariableType.TEXT, "kafka", "the group of that user"),
    Variable(
        "kafka_install_dir",
        "all",
        VariableType.PATH,
        "/opt/kafka",
        "where releases are installed, one directory for each version",
    ),
    Variable("kafka_config_dir", "all", VariableType.PATH, "/etc/kafka", "where the configuration of the nodes lies"),
    Variable("kafka_log_dir", "all", VariableType.PATH, "/var/log/kafka", "where the nodes write their logs"),
    Variable(
        "kafka_install_java",
        "all",
        VariableType.BOOLEAN,
        "false",
        "whether Java is installed on hosts where it is missing or too old; otherwise they are refused",
    ),
    Variable(
        "spark_secret",
        "all",
        VariableType.SECRET,
        "",
        "what Spark's daemons and jobs prove themselves with; without it, whoever reaches a master may run programs",
    ),
    Variable(
        "spark_heap",
        "group, host",
        VariableType.HEAP,
        "512m",
        "the heap of a Spark master or worker; executors have theirs",
    ),
    Variable("spark_master_port", "group, host", VariableType.PORT, "7077", "the port of a Spark master"),
    Variable("spark_master_web_port", "group, host", VariableType.PORT, "8080", "the port of its web page"),
    Variable("spark_worker_port", "group, host", VariableType.PORT, "7078", "the port of a Spark worker"),
    Variable("spark_worker_web_port", "group, host", VariableType.PORT, "8081", "the port of its web page"),
    Variable(
        "spark_worker_cores", "group, host", VariableType.INTEGER, "all", "the cores for the executors of a worker"
    ),
    Variable(
        "spark_worker_memory",
        "group, host",
        VariableType.HEAP,
        "the host's without 1 GiB",
        "the memory for the executors of a worker; say it where brokers run on the same host",
    ),
    Variable(
        "spark_work_dir", "group, host", VariableType.PATH, "/var/lib/spark", "where executors keep what they work on"
    ),
    Variable(
        "spark_config",
        "any",
        VariableType.PROPERTIES,
        "{}",
        "any property of Spark's masters and workers, in its spelling",
    ),
    Variable(
        "spark_environment",
        "any",
        VariableType.PROPERTIES,
        "{}",
        "environment variables of Spark's masters and workers",
    ),
    Variable("spark_user", "all", VariableType.TEXT, "spark", "the user that runs masters, workers and executors"),
    Variable("spark_group", "all", VariableType.TEXT, "spark", "the group of that user"),
    Variable("spark_install_dir", "all", VariableType.PATH, "/opt/spark", "where Spark is installed"),
    Variable(
        "spark_config_dir", "all", VariableType.PATH, "/etc/spark", "where the configuration of Spark's daemons lies"
    ),
    Variable("spark_log_dir", "all", VariableType.PATH, "/var/log/spark", "where Spark's daemons write their logs"),
)

VARIABLES = {word.name: word for word in _WORDS}
"""Every word by its name, in the order of the documentation."""
