from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from kcluster.clients import maven
from kcluster.clients.spark import connector
from kcluster.clients.spark import jars as pinned
from kcluster.clients.spark.jars import Bundle
from kcluster.errors import RefusedError, UnreachableError

TEXT = b"a jar"
SAME, OLDER = pinned.KAFKA.either
NAMES = ("KAFKA", "DELTA", "ICEBERG", "AVRO")


def of_hash(bundle: Bundle, known: str) -> Bundle:
    """The same jars, pinned to another hash."""
    fixed = tuple(replace(jar, sha256=known) for jar in bundle.fixed)
    return replace(
        bundle, fixed=fixed, either=tuple(replace(jar, sha256=jar.sha256 and known) for jar in bundle.either)
    )


@pytest.fixture
def repository(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """A repository that has every jar but those of no pinned hash; the coordinates that were asked for."""
    asked: list[str] = []

    def copy(coordinates: list[str], _pom: Path, into: Path, _meter: object) -> None:
        asked.extend(coordinates)
        unknown = [each for each in coordinates if each.endswith(f":{SAME.version}") and "sql-kafka" not in each]
        if unknown and "same" not in asked:
            raise UnreachableError(f"Maven failed with code 1: Could not find artifact {unknown[0]}")
        into.mkdir()
        for group, artifact, version in (one.split(":") for one in coordinates):
            assert group
            (into / f"{artifact}-{version}.jar").write_bytes(TEXT)

    monkeypatch.setenv("KCLUSTER_CACHE", str(tmp_path))
    for name in NAMES:
        monkeypatch.setattr(pinned, name, of_hash(getattr(pinned, name), sha256(TEXT).hexdigest()))
    monkeypatch.setattr(maven, "copy", copy)
    return asked


def test_the_provider_of_the_same_version_is_tried_first_and_the_older_one_is_reported(repository: list[str]) -> None:
    said: list[str] = []
    jars = connector.kafka_jars(said.append)
    assert repository[3] == SAME.coordinates
    assert jars[-1].name == OLDER.file
    assert said[-1] == "using spark-token-provider-kafka-0-10_2.13 in version 4.0.0"


def test_a_provider_of_the_same_version_is_held_to_the_hash_it_came_with(repository: list[str]) -> None:
    repository.append("same")
    jars = connector.kafka_jars(lambda _: None)
    assert jars[-1].name == SAME.file
    assert connector.cached_jars(pinned.KAFKA) == jars
    jars[-1].write_bytes(b"changed")
    assert connector.cached_jars(pinned.KAFKA) == []


def test_what_was_fetched_is_used_without_asking_again(repository: list[str]) -> None:
    first = connector.kafka_jars(lambda _: None)
    asked = list(repository)
    assert connector.kafka_jars(lambda _: None) == first
    assert repository == asked


def test_a_jar_that_changed_is_fetched_again(repository: list[str]) -> None:
    jars = connector.kafka_jars(lambda _: None)
    jars[0].write_bytes(b"half")
    assert connector.kafka_jars(lambda _: None)[0].read_bytes() == TEXT


def test_a_jar_that_is_not_the_pinned_one_is_refused(repository: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(pinned, "KAFKA", of_hash(pinned.KAFKA, "0" * 64))
    with pytest.raises(RefusedError, match="are wrong"):
        connector.kafka_jars(lambda _: None)


def test_another_jar_that_is_missing_is_named(repository: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def copy(*_: object) -> None:
        raise UnreachableError("Maven failed with code 1: Could not find artifact kafka-clients")

    monkeypatch.setattr(maven, "copy", copy)
    with pytest.raises(UnreachableError, match=r"cannot be downloaded: .*kafka-clients"):
        connector.kafka_jars(lambda _: None)
    assert list(connector.folder().iterdir()) == []


def names(asked: dict[str, object]) -> list[str]:
    """The jars for a job beyond those for Kafka."""
    return [file.name for file in connector.extra_jars(lambda _: None, asked)]


def test_a_job_gets_the_jars_that_its_format_and_its_sink_need_and_no_others(repository: list[str]) -> None:
    assert names({"format": {"kind": "json"}, "sink": {"format": "parquet"}}) == []
    assert names({"sink": {"format": "delta"}}) == ["delta-spark_4.1_2.13-4.2.0.jar", "delta-storage-4.2.0.jar"]
    assert names({"sink": {"format": "iceberg"}}) == ["iceberg-spark-runtime-4.1_2.13-1.11.0.jar"]
    both = {"format": {"kind": "avro"}, "sink": {"format": "delta"}}
    assert names(both)[0] == "spark-avro_2.13-4.1.1.jar"
    asked = list(repository)
    assert len(names(both)) == 3
    assert repository == asked


def test_a_jar_that_no_repository_has_is_an_error_with_three_ways_out(
    repository: list[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    connector.kafka_jars(lambda _: None)
    folder = connector.folder()

    def copy(coordinates: list[str], *_: object) -> None:
        raise UnreachableError(f"Maven failed with code 1: Could not find artifact {coordinates[-1]}")

    monkeypatch.setattr(maven, "copy", copy)
    with pytest.raises(UnreachableError) as caught:
        connector.extra_jars(lambda _: None, {"format": {"kind": "avro"}})
    assert caught.value.message == (
        "the jars with which Spark reads Avro cannot be downloaded: "
        "Maven failed with code 1: Could not find artifact org.apache.spark:spark-avro_2.13:4.1.1"
    )
    assert caught.value.resolution == (
        f"correct Maven's settings, or copy spark-avro_2.13-4.1.1.jar to {folder}, "
        "or set format: {kind: raw} in the job's file, which keeps the bytes"
    )
    (folder / "spark-avro_2.13-4.1.1.jar").write_bytes(TEXT)
    assert names({"format": {"kind": "avro"}}) == ["spark-avro_2.13-4.1.1.jar"]
