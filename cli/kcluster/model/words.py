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


class Type(StrEnum):
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
class Word:
    """One variable of the inventory."""

    name: str
    where: str
    """"all" (the same for the whole cluster), "group, host", "host", or "any" (levels add up key by key)."""
    type: Type
    default: str
    """As the documentation shows it; empty when there is none and the word is needed or stays unset."""
    meaning: str


_WORDS = (
    Word(
        "kcluster_name",
        "all",
        Type.TEXT,
        "the inventory's name",
        "the cluster's name; asked for by everything that deletes",
    ),
    Word("kafka_version", "all", Type.TEXT, "3.9.2", "the Kafka release to install"),
    Word("kafka_scala_version", "all", Type.TEXT, "2.13", "the Scala version the release was built for"),
    Word(
        "kafka_release_sources",
        "all",
        Type.TEXTS,
        "[cache, maven, url]",
        "where the release comes from, in the order to try: `cache`, `maven`, `url`, a path, or a URL",
    ),
    Word(
        "kafka_cluster_id", "all", Type.TEXT, "", "the id a KRaft cluster is formatted with: 22 characters, made once"
    ),
    Word("zookeeper_id", "host", Type.INTEGER, "", "the server's id, 1 to 255; written, never counted"),
    Word("kafka_broker_id", "host", Type.INTEGER, "", "the broker's id, 0 to 999; written, never counted"),
    Word(
        "kafka_controller_id",
        "host",
        Type.INTEGER,
        "",
        "the KRaft controller's id, 3000 or more; written, never counted",
    ),
    Word(
        "zookeeper_data_dir",
        "group, host",
        Type.PATH,
        "/var/lib/zookeeper",
        "where a ZooKeeper server keeps its snapshots and `myid`",
    ),
    Word(
        "zookeeper_log_dir",
        "group, host",
        Type.PATH,
        "the data directory",
        "where it writes its transaction log; best on a disk of its own",
    ),
    Word("zookeeper_client_port", "group, host", Type.PORT, "2181", "the port brokers connect to"),
    Word("zookeeper_peer_port", "group, host", Type.PORT, "2888", "the port the servers follow their leader on"),
    Word("zookeeper_election_port", "group, host", Type.PORT, "3888", "the port the servers elect their leader on"),
    Word("zookeeper_chroot", "all", Type.TEXT, "", "the path under which the brokers keep everything, such as /kafka"),
    Word(
        "kafka_listeners",
        "group, host",
        Type.LISTENERS,
        "internal on 9092",
        "the broker's doors: a list of `name, port, protocol, host (to bind), advertised_host, advertised_port`",
    ),
    Word(
        "kafka_inter_broker_listener",
        "group, host",
        Type.TEXT,
        "`internal`, or the first listener",
        "the listener the brokers use among themselves",
    ),
    Word(
        "kafka_data_dirs",
        "group, host",
        Type.PATHS,
        "[/var/lib/kafka]",
        "the broker's data directories, one for each disk; new ones come last",
    ),
    Word("kafka_rack", "group, host", Type.TEXT, "", "the rack or zone; replicas are spread over racks"),
    Word("kafka_heap", "group, host", Type.HEAP, "1g", "the heap of a broker"),
    Word("kafka_environment", "any", Type.PROPERTIES, "{}", "environment variables of brokers and controllers"),
    Word("kafka_controller_port", "group, host", Type.PORT, "9093", "the port of a KRaft controller"),
    Word(
        "kafka_controller_data_dir",
        "group, host",
        Type.PATH,
        "/var/lib/kafka-controller",
        "where a KRaft controller keeps the metadata",
    ),
    Word("kafka_controller_heap", "group, host", Type.HEAP, "1g", "the heap of a KRaft controller"),
    Word(
        "kafka_controller_environment", "any", Type.PROPERTIES, "{}", "environment variables of KRaft controllers only"
    ),
    Word("zookeeper_heap", "group, host", Type.HEAP, "512m", "the heap of a ZooKeeper server"),
    Word("zookeeper_environment", "any", Type.PROPERTIES, "{}", "environment variables of ZooKeeper servers"),
    Word(
        "kafka_config", "any", Type.PROPERTIES, "{}", "any property of brokers and controllers, in Kafka's own spelling"
    ),
    Word("kafka_controller_config", "any", Type.PROPERTIES, "{}", "any property of KRaft controllers only"),
    Word(
        "zookeeper_config",
        "any",
        Type.PROPERTIES,
        "{}",
        "any property of ZooKeeper servers, in ZooKeeper's own spelling",
    ),
    Word(
        "kafka_topics",
        "all",
        Type.TOPICS,
        "[]",
        "what `kcluster topic apply` brings into being: a list of `name, partitions, replication_factor, config`",
    ),
    Word(
        "kafka_client_properties",
        "all",
        Type.PROPERTIES,
        "{}",
        "what kcluster and its jobs say to the brokers when there is no `--client-config`, as Java's clients spell it: "
        "`security.protocol, sasl.jaas.config, ssl.truststore.location`, ...; files are beside the inventory. Clients "
        "use the listener that speaks this `security.protocol`",
    ),
    Word("kafka_user", "all", Type.TEXT, "kafka", "the user that runs every node"),
    Word("kafka_group", "all", Type.TEXT, "kafka", "the group of that user"),
    Word(
        "kafka_install_dir",
        "all",
        Type.PATH,
        "/opt/kafka",
        "where releases are installed, one directory for each version",
    ),
    Word("kafka_config_dir", "all", Type.PATH, "/etc/kafka", "where the configuration of the nodes lies"),
    Word("kafka_log_dir", "all", Type.PATH, "/var/log/kafka", "where the nodes write their logs"),
    Word(
        "kafka_install_java",
        "all",
        Type.BOOLEAN,
        "false",
        "whether Java is installed on hosts where it is missing or too old; otherwise they are refused",
    ),
    Word(
        "spark_secret",
        "all",
        Type.SECRET,
        "",
        "what Spark's daemons and jobs prove themselves with; without it, whoever reaches a master may run programs",
    ),
    Word("spark_heap", "group, host", Type.HEAP, "512m", "the heap of a Spark master or worker; executors have theirs"),
    Word("spark_master_port", "group, host", Type.PORT, "7077", "the port of a Spark master"),
    Word("spark_master_web_port", "group, host", Type.PORT, "8080", "the port of its web page"),
    Word("spark_worker_port", "group, host", Type.PORT, "7078", "the port of a Spark worker"),
    Word("spark_worker_web_port", "group, host", Type.PORT, "8081", "the port of its web page"),
    Word("spark_worker_cores", "group, host", Type.INTEGER, "all", "the cores for the executors of a worker"),
    Word(
        "spark_worker_memory",
        "group, host",
        Type.HEAP,
        "the host's without 1 GiB",
        "the memory for the executors of a worker; say it where brokers run on the same host",
    ),
    Word("spark_work_dir", "group, host", Type.PATH, "/var/lib/spark", "where executors keep what they work on"),
    Word("spark_config", "any", Type.PROPERTIES, "{}", "any property of Spark's masters and workers, in its spelling"),
    Word("spark_environment", "any", Type.PROPERTIES, "{}", "environment variables of Spark's masters and workers"),
    Word("spark_user", "all", Type.TEXT, "spark", "the user that runs masters, workers and executors"),
    Word("spark_group", "all", Type.TEXT, "spark", "the group of that user"),
    Word("spark_install_dir", "all", Type.PATH, "/opt/spark", "where Spark is installed"),
    Word("spark_config_dir", "all", Type.PATH, "/etc/spark", "where the configuration of Spark's daemons lies"),
    Word("spark_log_dir", "all", Type.PATH, "/var/log/spark", "where Spark's daemons write their logs"),
)

WORDS = {word.name: word for word in _WORDS}
"""Every word by its name, in the order of the documentation."""
