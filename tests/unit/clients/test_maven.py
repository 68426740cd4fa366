"""The call of Maven and what its answers mean."""

from __future__ import annotations

from pathlib import Path

import pytest

from kcluster.clients.maven import PLUGIN, command, copy, pom
from kcluster.errors import UnreachableError


@pytest.fixture
def mvn(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A `mvn` that is first on the path; the test writes what it does."""
    script = tmp_path / "bin" / "mvn"
    script.parent.mkdir()
    monkeypatch.setenv("PATH", f"{script.parent}:/usr/bin:/bin")
    return script


def says(mvn: Path, text: str, code: int) -> None:
    mvn.write_text(f"#!/bin/sh\ncat <<'END'\n{text}\nEND\nexit {code}\n")
    mvn.chmod(0o755)


def test_the_pom_has_each_jar_at_its_version_and_nothing_transitive() -> None:
    text = pom(["org.slf4j:slf4j-api:1.7.36"])
    assert "<groupId>org.slf4j</groupId><artifactId>slf4j-api</artifactId><version>1.7.36</version>" in text
    assert "<exclusion><groupId>*</groupId><artifactId>*</artifactId></exclusion>" in text


def test_maven_runs_without_questions_and_refuses_wrong_checksums() -> None:
    assert command(Path("pom.xml"), Path("libs")) == [
        "mvn",
        "--batch-mode",
        "--strict-checksums",
        "-Dmaven.wagon.rto=60000",
        "-Daether.connector.requestTimeout=60000",
        "--file",
        "pom.xml",
        PLUGIN,
        "-DincludeScope=runtime",
        "-DoutputDirectory=libs",
    ]


def test_jars_that_arrive_are_counted(mvn: Path, tmp_path: Path) -> None:
    line = "[INFO] Downloaded from central: https://repo/a/1/a-1.{} (1 kB at 2 kB/s)"
    says(mvn, "\n".join([line.format("pom"), line.format("jar"), line.format("jar")]), 0)
    told: list[tuple[int, int | None, str]] = []
    copy(["g:a:1", "g:b:1"], tmp_path / "pom.xml", tmp_path / "libs", lambda *how_far: told.append(how_far))
    assert told == [(1, 2, "jars"), (2, 2, "jars")]


def test_without_maven_the_error_says_what_to_install(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", str(tmp_path))
    with pytest.raises(UnreachableError, match="there is no `mvn`") as caught:
        copy(["g:a:1"], tmp_path / "pom.xml", tmp_path / "libs", lambda *_: None)
    assert caught.value.resolution == "install Maven: apt-get install maven"


def test_of_a_failure_the_sentence_that_matters_is_shown(mvn: Path, tmp_path: Path) -> None:
    says(
        mvn,
        "[INFO] Scanning for projects...\n[ERROR] Failed to execute goal on project release: Could not resolve "
        "dependencies for project kcluster:release:jar:1: Could not find artifact g:a:jar:1 in central "
        "(https://repo) -> [Help 1]\n[ERROR]\n[ERROR] To see the full stack trace of the errors, use -e",
        1,
    )
    with pytest.raises(UnreachableError) as caught:
        copy(["g:a:1"], tmp_path / "pom.xml", tmp_path / "libs", lambda *_: None)
    assert (
        caught.value.message == "Maven failed with code 1: Could not find artifact g:a:jar:1 in central (https://repo)"
    )


def test_a_full_disk_is_told_as_such(mvn: Path, tmp_path: Path) -> None:
    says(mvn, "[ERROR] Failed to copy artifact: No space left on device -> [Help 1]", 1)
    with pytest.raises(OSError, match="No space left"):
        copy(["g:a:1"], tmp_path / "pom.xml", tmp_path / "libs", lambda *_: None)
