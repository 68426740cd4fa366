from __future__ import annotations

from dataclasses import replace
from hashlib import sha256
from pathlib import Path

import pytest

from kcluster.clients import maven
from kcluster.clients.spark import connector
from kcluster.errors import RefusedError, UnreachableError

TEXT = b"a jar"
SAME, OLDER = connector.PROVIDERS


@pytest.fixture
def repository(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> list[str]:
    """A repository that has every jar but the provider of the same version; the coordinates that were asked for."""
    asked: list[str] = []

    def copy(coordinates: list[str], _pom: Path, into: Path, _meter: object) -> None:
        asked.extend(coordinates)
        if SAME.coordinates in coordinates and "same" not in asked:
            raise UnreachableError(f"Maven failed with code 1: Could not find artifact {SAME.coordinates}")
        into.mkdir()
        for group, artifact, version in (one.split(":") for one in coordinates):
            assert group
            (into / f"{artifact}-{version}.jar").write_bytes(TEXT)

    pinned = [replace(jar, sha256=sha256(TEXT).hexdigest()) for jar in (*connector.FIXED, OLDER)]
    monkeypatch.setenv("KCLUSTER_CACHE", str(tmp_path))
    monkeypatch.setattr(connector, "FIXED", tuple(pinned[:-1]))
    monkeypatch.setattr(connector, "PROVIDERS", (SAME, pinned[-1]))
    monkeypatch.setattr(maven, "copy", copy)
    return asked


def test_the_provider_of_the_same_version_is_asked_for_first_and_the_older_one_is_said(repository: list[str]) -> None:
    said: list[str] = []
    jars = connector.jars(said.append)
    assert repository[3] == SAME.coordinates
    assert jars[-1].name == OLDER.file
    assert said[-1] == "spark-token-provider-kafka-0-10_2.13 is taken in version 4.0.0"


def test_a_provider_of_the_same_version_is_held_to_the_hash_it_came_with(repository: list[str]) -> None:
    repository.append("same")
    jars = connector.jars(lambda _: None)
    assert jars[-1].name == SAME.file
    assert connector.kept() == jars
    jars[-1].write_bytes(b"changed")
    assert connector.kept() == []


def test_what_was_fetched_is_used_without_asking_again(repository: list[str]) -> None:
    first = connector.jars(lambda _: None)
    asked = list(repository)
    assert connector.jars(lambda _: None) == first
    assert repository == asked


def test_a_jar_that_changed_is_fetched_again(repository: list[str]) -> None:
    jars = connector.jars(lambda _: None)
    jars[0].write_bytes(b"half")
    assert connector.jars(lambda _: None)[0].read_bytes() == TEXT


def test_a_jar_that_is_not_the_pinned_one_is_refused(repository: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(connector, "FIXED", tuple(replace(jar, sha256="0" * 64) for jar in connector.FIXED))
    with pytest.raises(RefusedError, match="not what they should be"):
        connector.jars(lambda _: None)


def test_another_jar_that_is_missing_is_named(repository: list[str], monkeypatch: pytest.MonkeyPatch) -> None:
    def copy(*_: object) -> None:
        raise UnreachableError("Maven failed with code 1: Could not find artifact kafka-clients")

    monkeypatch.setattr(maven, "copy", copy)
    with pytest.raises(UnreachableError, match=r"cannot be fetched: .*kafka-clients"):
        connector.jars(lambda _: None)
    assert list(connector.folder().iterdir()) == []
