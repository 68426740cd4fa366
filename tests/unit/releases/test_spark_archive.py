"""Spark as it travels: what the installed wheel holds, verified, with the jars that read Kafka."""

from __future__ import annotations

import tarfile
from pathlib import Path

import pytest

from kcluster.clients.spark import connector, runtime
from kcluster.errors import RefusedError
from kcluster.model.spark_cluster import SparkRelease
from kcluster.releases import spark_archive

RELEASE = SparkRelease()
KAFKA = ("spark-sql-kafka-0-10_2.13-4.1.3.jar", "kafka-clients-3.9.1.jar")
SMALL = ("bin/", "python/lib/")
"""The folders without the jars, which are 460 MB."""


def quiet(_text: str) -> None:
    """Nobody watches."""


@pytest.fixture
def jars(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> list[Path]:
    """What the connector would fetch; small, because this is about where they land."""
    made = [tmp_path / name for name in KAFKA]
    for jar in made:
        jar.write_text(jar.name)
    monkeypatch.setattr(connector, "kafka_jars", lambda _progress: made)
    return made


@pytest.fixture
def small(monkeypatch: pytest.MonkeyPatch) -> None:
    """Take only the small folders of the wheel."""
    monkeypatch.setattr(spark_archive, "_FOLDERS", SMALL)


def names(tar: Path) -> dict[str, tarfile.TarInfo]:
    with tarfile.open(tar) as content:
        return {member.name: member for member in content}


def test_the_version_that_hosts_get_is_the_one_jobs_need() -> None:
    assert RELEASE.version == runtime.VERSION
    assert RELEASE.java == runtime.JAVA


def test_what_is_taken_of_the_wheel_is_what_daemons_and_executors_need() -> None:
    taken = {name for name, _ in spark_archive._wheel_files()}
    assert {"bin/spark-class", "bin/spark-submit", "python/lib/pyspark.zip"} <= taken
    assert any(name.startswith("jars/spark-core_2.13-") for name in taken)
    assert any(name.startswith("licenses/") for name in taken)
    assert not [name for name in taken if name.endswith((".pyc", ".cmd")) or name.startswith(("examples/", "data/"))]
    assert {name.partition("/")[0] for name in taken} == {"bin", "sbin", "jars", "python", "licenses"}


@pytest.mark.usefixtures("small")
def test_the_file_holds_scripts_that_run_and_the_jars_that_read_kafka(jars: list[Path]) -> None:
    tar = spark_archive.spark_tarball(RELEASE, quiet)
    found = names(tar.path)
    assert tar.path.name == "spark-4.1.3.tar"
    assert found["bin/spark-class"].mode == 0o755
    assert found["python/lib/pyspark.zip"].mode == 0o644
    assert {f"jars/{name}" for name in KAFKA} <= set(found)
    assert not [name for name in found if name.endswith(".pyc")]


@pytest.mark.usefixtures("small")
def test_it_is_made_once_and_again_when_another_jar_reads_kafka(jars: list[Path]) -> None:
    first = spark_archive.spark_tarball(RELEASE, quiet)
    assert spark_archive.spark_tarball(RELEASE, quiet) == first
    jars[0] = jars[0].rename(jars[0].with_name("spark-sql-kafka-0-10_2.13-4.1.4.jar"))
    again = spark_archive.spark_tarball(RELEASE, quiet)
    assert again.sha512 != first.sha512
    assert f"jars/{jars[0].name}" in names(again.path)


@pytest.mark.usefixtures("small", "jars")
def test_a_file_that_is_not_the_one_of_the_wheel_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    installed, damaged = runtime.home(), tmp_path / "pyspark"
    for name, _ in spark_archive._wheel_files():
        (damaged / name).parent.mkdir(parents=True, exist_ok=True)
        (damaged / name).write_bytes((installed / name).read_bytes())
    (damaged / "bin/spark-class").write_text("#!/bin/sh\n")
    monkeypatch.setattr(runtime, "home", lambda: damaged)
    with pytest.raises(
        RefusedError, match=r"pyspark/bin/spark-class differs from the file in PySpark's wheel"
    ) as refused:
        spark_archive.spark_tarball(RELEASE, quiet)
    assert refused.value.resolution.endswith(" -m pip install --force-reinstall --no-deps pyspark==4.1.3")
    assert not list((tmp_path / "cache/tarballs").glob("*.tar"))
