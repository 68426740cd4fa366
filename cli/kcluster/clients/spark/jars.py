"""The jars that Spark needs besides its own: exact versions, pinned by SHA-256."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from kcluster.clients.spark.runtime import VERSION


@dataclass(frozen=True)
class SparkJar:
    """A jar of one exact version."""

    group: str
    artifact: str
    version: str
    sha256: str
    """Empty when the checksum is not known in advance."""

    @property
    def coordinates(self) -> str:
        """The Maven coordinates."""
        return f"{self.group}:{self.artifact}:{self.version}"

    @property
    def file(self) -> str:
        """The file name."""
        return f"{self.artifact}-{self.version}.jar"


@dataclass(frozen=True)
class Bundle:
    """Jars that belong together."""

    purpose: str
    """What they are for, to complete: the jars with which Spark ..."""
    fixed: tuple[SparkJar, ...]
    either: tuple[SparkJar, ...] = ()
    """Alternatives: the first that the repository has is used; not every one has the jar of Spark's own version."""
    instead: str = ""
    """The setting in the job's file that avoids them."""


KAFKA = Bundle(
    "reads Kafka",
    (
        SparkJar(
            "org.apache.spark",
            "spark-sql-kafka-0-10_2.13",
            VERSION,
            "cb31ffd9c8f5527dba061db8af671d295562092e4f3f5ff42fc249fab8a8fde6",
        ),
        SparkJar(
            "org.apache.kafka",
            "kafka-clients",
            "3.9.1",
            "7568b998572d256f0b7bc0afdc1b7a2588b8b08415c62ce314c864a6851ae9d9",
        ),
        SparkJar(
            "org.apache.commons",
            "commons-pool2",
            "2.12.1",
            "5273c8bc8c0dca2211175c0d27efbd7228efae99689aac001a8e1ef8e872e9ef",
        ),
    ),
    (
        SparkJar("org.apache.spark", "spark-token-provider-kafka-0-10_2.13", VERSION, ""),
        SparkJar(
            "org.apache.spark",
            "spark-token-provider-kafka-0-10_2.13",
            "4.0.0",
            "f2be3b76f9e6cbe63379d4e4e0dc14f59dbf056ae2ad16ff15ac108004c86767",
        ),
    ),
)
DELTA = Bundle(
    "writes Delta",
    (
        SparkJar(
            "io.delta",
            "delta-spark_4.1_2.13",
            "4.2.0",
            "8480050a55c7e50427f3bec3af9243f98fc7cbfa453a2ef55e6ea8d0b7b121ff",
        ),
        SparkJar(
            "io.delta", "delta-storage", "4.2.0", "2d84df76551f2b3cd27b120abec67ccbba324cea6ec45eb659edcc54234f99f3"
        ),
    ),
    instead="set sink: {format: parquet} in the job's file",
)
ICEBERG = Bundle(
    "writes Iceberg",
    (
        SparkJar(
            "org.apache.iceberg",
            "iceberg-spark-runtime-4.1_2.13",
            "1.11.0",
            "d6ea6c5d099288daeb7d5a92061bd3d7d8f296492632b42378e5f2f0e3066242",
        ),
    ),
    instead="set sink: {format: parquet} in the job's file",
)
AVRO = Bundle(
    "reads Avro",
    (),
    (
        SparkJar("org.apache.spark", "spark-avro_2.13", VERSION, ""),
        SparkJar(
            "org.apache.spark",
            "spark-avro_2.13",
            "4.1.1",
            "6a19d90bc3b6e88d8db0fa36a19273aa10fea2dbd7a62bb60e4cedd73051b32d",
        ),
    ),
    instead="set format: {kind: raw} in the job's file, which keeps the bytes",
)


def needed_bundles(settings: Mapping[str, Any]) -> Iterator[Bundle]:
    """The bundles that a job with these settings needs besides Kafka's."""
    if settings.get("format", {}).get("kind") == "avro":
        yield AVRO
    sinks = {"delta": DELTA, "iceberg": ICEBERG}
    if (form := settings.get("sink", {}).get("format")) in sinks:
        yield sinks[form]
