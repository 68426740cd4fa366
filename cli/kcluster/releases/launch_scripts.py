"""The `bin/` and `config/` of a release put together from Maven: our own scripts under the names people know."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from pathlib import Path
from string import Template

from kcluster.model.release import Release

_HERE = Path(__file__).parent
_TOOLS = "org.apache.kafka.tools."
_CONNECT = "org.apache.kafka.connect."

_EVERYWHERE = {
    "kafka-storage.sh": "kafka.tools.StorageTool",
    "kafka-topics.sh": _TOOLS + "TopicCommand",
    "kafka-configs.sh": "kafka.admin.ConfigCommand",
    "kafka-console-consumer.sh": _TOOLS + "consumer.ConsoleConsumer",
    "kafka-verifiable-producer.sh": _TOOLS + "VerifiableProducer",
    "kafka-verifiable-consumer.sh": _TOOLS + "VerifiableConsumer",
    "kafka-producer-perf-test.sh": _TOOLS + "ProducerPerformance",
    "kafka-consumer-perf-test.sh": _TOOLS + "ConsumerPerformance",
    "kafka-reassign-partitions.sh": _TOOLS + "reassign.ReassignPartitionsCommand",
    "kafka-leader-election.sh": _TOOLS + "LeaderElectionCommand",
    "kafka-log-dirs.sh": _TOOLS + "LogDirsCommand",
    "kafka-get-offsets.sh": _TOOLS + "GetOffsetShell",
    "kafka-features.sh": _TOOLS + "FeatureCommand",
    "kafka-cluster.sh": _TOOLS + "ClusterTool",
    "kafka-metadata-quorum.sh": _TOOLS + "MetadataQuorumCommand",
    "kafka-metadata-shell.sh": "org.apache.kafka.shell.MetadataShell",
    "kafka-dump-log.sh": "kafka.tools.DumpLogSegments",
    "kafka-jmx.sh": _TOOLS + "JmxTool",
    "kafka-consumer-groups.sh": _TOOLS + "consumer.group.ConsumerGroupCommand",
    "kafka-replica-verification.sh": _TOOLS + "ReplicaVerificationTool",
    "kafka-delete-records.sh": _TOOLS + "DeleteRecordsCommand",
    "kafka-delegation-tokens.sh": _TOOLS + "DelegationTokenCommand",
    "kafka-transactions.sh": _TOOLS + "TransactionsCommand",
    "kafka-client-metrics.sh": _TOOLS + "ClientMetricsCommand",
    "kafka-e2e-latency.sh": _TOOLS + "EndToEndLatency",
    "kafka-streams-application-reset.sh": _TOOLS + "StreamsResetter",
    "connect-plugin-path.sh": _TOOLS + "ConnectPluginPath",
}
_WITH_ZOOKEEPER = {
    "kafka-acls.sh": "kafka.admin.AclCommand",
    "kafka-broker-api-versions.sh": "kafka.admin.BrokerApiVersionsCommand",
    "kafka-console-producer.sh": "kafka.tools.ConsoleProducer",
    "zookeeper-shell.sh": "org.apache.zookeeper.ZooKeeperMainWithTlsSupportForKafka -server",
    "zookeeper-security-migration.sh": "kafka.admin.ZkSecurityMigrator",
}
_WITHOUT_ZOOKEEPER = {
    "kafka-acls.sh": _TOOLS + "AclCommand",
    "kafka-broker-api-versions.sh": _TOOLS + "BrokerApiVersionsCommand",
    "kafka-console-producer.sh": _TOOLS + "ConsoleProducer",
    "kafka-groups.sh": _TOOLS + "GroupsCommand",
    "kafka-share-groups.sh": _TOOLS + "consumer.group.ShareGroupCommand",
    "kafka-streams-groups.sh": _TOOLS + "streams.StreamsGroupCommand",
    "kafka-console-share-consumer.sh": _TOOLS + "consumer.ConsoleShareConsumer",
    "kafka-share-consumer-perf-test.sh": _TOOLS + "ShareConsumerPerformance",
    "kafka-verifiable-share-consumer.sh": _TOOLS + "VerifiableShareConsumer",
}
_MOVES_DATA = ("-producer", "-consumer.sh", "-perf-test", "-e2e-latency")
"""Tools that hold records in memory and get twice the heap."""


def classes(release: Release) -> Mapping[str, str]:
    """Every tool's script and the class it runs, with the arguments that always come first."""
    return {**_EVERYWHERE, **(_WITH_ZOOKEEPER if release.supports_zookeeper else _WITHOUT_ZOOKEEPER)}


def servers(release: Release) -> Mapping[str, Mapping[str, str]]:
    """Every server's script, and what its template is filled with."""
    logging, connect = _logging(release, ""), _logging(release, "connect-")
    scripts = {
        "kafka-server-start.sh": _server(
            "kafka.Kafka", "server.properties [--override KEY=VALUE]...", "-Xmx1G -Xms1G", "kafkaServer -loggc", logging
        ),
        "connect-distributed.sh": _server(
            _CONNECT + "cli.ConnectDistributed", "worker.properties", "-Xms256M -Xmx2G", "connectDistributed", connect
        ),
        "connect-standalone.sh": _server(
            _CONNECT + "cli.ConnectStandalone",
            "worker.properties [connector.properties]...",
            "-Xms256M -Xmx2G",
            "connectStandalone",
            connect,
        ),
        "connect-mirror-maker.sh": _server(
            _CONNECT + "mirror.MirrorMaker", "mm2.properties", "-Xms256M -Xmx2G", "mirrorMaker", connect
        ),
    }
    if release.supports_zookeeper:
        scripts["zookeeper-server-start.sh"] = _server(
            "org.apache.zookeeper.server.quorum.QuorumPeerMain",
            "zookeeper.properties",
            "-Xmx512M -Xms512M",
            "zookeeper -loggc",
            logging,
        )
    return scripts


def scripts(release: Release) -> Iterator[tuple[str, str]]:
    """Every file of `bin/` with its text."""
    for name in ("kafka-run-class.sh", "trogdor.sh"):
        yield name, (_HERE / "scripts" / name).read_text()
    tool = Template((_HERE / "scripts" / "tool.sh").read_text())
    for name, java_class in classes(release).items():
        heap = "-Xmx512M" if any(part in name for part in _MOVES_DATA) else "-Xmx256M"
        yield name, tool.substitute({"class": java_class, "heap": heap})
    server = Template((_HERE / "scripts" / "server.sh").read_text())
    for name, values in servers(release).items():
        yield name, server.substitute(values, script=name)


def files(release: Release) -> Iterator[tuple[str, bytes]]:
    """Every file of `bin/` and `config/` with its content."""
    for name, text in scripts(release):
        yield f"bin/{name}", text.encode()
    for source in sorted((_HERE / "logging" / _generation(release)).iterdir()):
        yield f"config/{source.name}", source.read_bytes()


def write(release: Release, home: Path) -> None:
    """Write `bin/` and `config/` into a release's directory."""
    for name, content in files(release):
        file = home / name
        file.parent.mkdir(exist_ok=True)
        file.write_bytes(content)
        file.chmod(0o755 if name.startswith("bin/") else 0o644)


def classpath(home: Path) -> str:
    """The class path of a release in the order of kafka-run-class.sh, so that class data archives fit both."""
    jars = sorted((home / "libs").glob("*.jar"), key=lambda jar: jar.name.encode())
    return ":".join(str(jar) for jar in jars if not jar.name.startswith("connect-file-"))


def _server(java_class: str, usage: str, heap: str, name: str, logging: str) -> Mapping[str, str]:
    return {"class": java_class, "usage": usage, "heap": heap, "extra": f"-name {name}", "logging": logging}


def _logging(release: Release, prefix: str) -> str:
    if release.log4j2:
        return f"-Dlog4j2.configurationFile=file:$config/{prefix}log4j2.yaml"
    return f"-Dlog4j.configuration=file:$config/{prefix}log4j.properties"


def _generation(release: Release) -> str:
    return "4" if release.log4j2 else "3.9"
