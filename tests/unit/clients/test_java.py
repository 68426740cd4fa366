from __future__ import annotations

from pathlib import Path

import pytest

from kcluster.clients import java
from kcluster.clients.java import Java
from kcluster.errors import RefusedError


def runtime(folder: Path, version: str) -> Path:
    """A Java that says its version in its `release` file."""
    (folder / "bin").mkdir(parents=True)
    (folder / "bin/java").write_text("#!/bin/sh\n")
    (folder / "bin/java").chmod(0o755)
    (folder / "release").write_text(f'IMPLEMENTOR="x"\nJAVA_VERSION="{version}"\n')
    return folder


@pytest.mark.parametrize(
    ("version", "feature"), [("17.0.15+6-Debian-1", 17), ("1.8.0_392", 8), ("21-ea", 21), ("9", 9), ("", 0)]
)
def test_the_number_people_mean(version, feature):
    assert Java(Path("/jvm"), version).feature == feature


def test_numbers_are_compared_as_numbers(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(runtime(tmp_path / "nine", "9.0.4")))
    with pytest.raises(RefusedError, match=r"Java 9\.0\.4 is too old: Kafka 3\.9\.2 needs Java 11 or newer") as refused:
        java.require(11, "Kafka 3.9.2")
    assert "apt install default-jre-headless" in refused.value.resolution


def test_the_java_of_java_home_comes_first(tmp_path, monkeypatch):
    monkeypatch.setenv("JAVA_HOME", str(runtime(tmp_path / "j", "21.0.2")))
    assert java.require(17, "Kafka 4.2.0").version == "21.0.2"


def test_no_java_says_what_to_install(tmp_path, monkeypatch):
    monkeypatch.delenv("JAVA_HOME", raising=False)
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(RefusedError, match="Java is not installed") as refused:
        java.require(11, "Kafka 3.9.2")
    assert refused.value.resolution == "sudo apt install default-jre-headless"


def test_a_java_without_a_release_file_is_asked(tmp_path, monkeypatch):
    home = runtime(tmp_path / "j", "17")
    (home / "release").unlink()
    (home / "bin/java").write_text("#!/bin/sh\necho 'openjdk version \"11.0.2\" 2019-01-15' >&2\n")
    monkeypatch.setenv("JAVA_HOME", str(home))
    assert java.require(11, "Kafka 3.9.2").feature == 11
