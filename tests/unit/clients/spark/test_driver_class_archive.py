"""The archive is made once, kept when it is whole, and left out where it would disturb."""

from __future__ import annotations

from pathlib import Path

import pytest

from kcluster.clients.spark import driver_class_archive
from kcluster.clients.spark.runtime import SparkRuntime

WHOLE = 'echo "$*" >>"$SPARK_HOME/asked"; echo classes >"$ARCHIVE.new"'
FAILS = 'echo "$*" >>"$SPARK_HOME/asked"; echo half >"$ARCHIVE.new"; exit 1'


@pytest.fixture
def installed(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> SparkRuntime:
    """A PySpark whose spark-submit is a script, and a Java that is never started."""
    monkeypatch.setenv("KCLUSTER_CACHE", str(tmp_path / "cache"))
    home, java = tmp_path / "pyspark", tmp_path / "java"
    for folder in (home / "bin", home / "jars", java / "lib" / "server"):
        folder.mkdir(parents=True)
    (java / "lib" / "server" / "libjvm.so").write_text("17")
    return SparkRuntime(home, java, Path("/usr/bin/python3"))


def submits(runtime: SparkRuntime, does: str) -> None:
    runtime.submit.write_text(f"#!/bin/sh\n{does}\n")
    runtime.submit.chmod(0o755)


def asked(runtime: SparkRuntime) -> list[str]:
    return (runtime.spark_home / "asked").read_text().splitlines()


def test_a_driver_starts_from_the_archive_once_it_is_there(installed: SparkRuntime) -> None:
    submits(installed, WHOLE)
    assert driver_class_archive.options(installed, "") == ""
    driver_class_archive.make(installed, wait=True)
    driver_class_archive.make(installed, wait=True)
    assert len(asked(installed)) == 1
    assert "-XX:ArchiveClassesAtExit=" in asked(installed)[0]
    option = driver_class_archive.options(installed, "-Xss4m").split()[0]
    assert Path(option.removeprefix("-XX:SharedArchiveFile=")).read_text() == "classes\n"
    assert driver_class_archive.options(installed, "-javaagent:jmx.jar") == ""


def test_another_build_of_java_has_an_archive_of_its_own(installed: SparkRuntime) -> None:
    submits(installed, WHOLE)
    driver_class_archive.make(installed, wait=True)
    (installed.java_home / "lib" / "server" / "libjvm.so").write_text("17.0.1")
    assert driver_class_archive.options(installed, "") == ""


def test_what_came_to_nothing_is_not_tried_at_each_submit(installed: SparkRuntime) -> None:
    submits(installed, FAILS)
    for _ in range(2):
        driver_class_archive.make(installed, wait=True)
    assert driver_class_archive.options(installed, "") == ""
    assert len(asked(installed)) == 1


def test_archives_of_installations_that_are_gone_go_too(installed: SparkRuntime, tmp_path: Path) -> None:
    submits(installed, WHOLE)
    driver_class_archive.make(installed, wait=True)
    installed.spark_home.rename(tmp_path / "moved")
    moved = SparkRuntime(tmp_path / "moved", installed.java_home, installed.python)
    driver_class_archive.make(moved, wait=True)
    assert len(list((tmp_path / "cache").rglob("*.jsa"))) == 1
    assert driver_class_archive.options(moved, "")
