"""What is in the cache is whole, or it is not there."""

from __future__ import annotations

from pathlib import Path

import pytest

from kcluster.model.release import Release
from kcluster.releases import cache, launch_scripts
from kcluster.releases.fetch import fetch

RELEASE = Release("9.9.9", sources=("cache",))


@pytest.fixture
def home(bundle: Path) -> Path:
    return fetch(Release("9.9.9", sources=(str(bundle),)), print)


def test_a_release_is_there_only_when_it_is_marked(home: Path) -> None:
    assert cache.installed(RELEASE) == home
    (home / cache.MARKER).unlink()
    assert cache.installed(RELEASE) is None


@pytest.mark.parametrize("text", ["", "{", "[]", '{"source": "maven"}', '{"source": "x", "files": {"a": 1}}'])
def test_a_marker_that_cannot_be_read_is_no_marker(home: Path, text: str) -> None:
    (home / cache.MARKER).write_text(text)
    assert cache.installed(RELEASE) is None
    assert [one.file for one in cache.differences(RELEASE)] == [cache.MARKER]


@pytest.mark.parametrize("damage", ["", "jar"])
def test_a_file_that_was_cut_off_is_noticed_by_its_size(home: Path, damage: str) -> None:
    (home / "libs/a-1.jar").write_text(damage)
    assert cache.installed(RELEASE) is None


def test_every_kind_of_difference_is_named(home: Path) -> None:
    (home / "config/a.properties").write_text("a=2\n")
    (home / "bin/run.sh").unlink()
    (home / "libs/b.jar").touch()
    problems = {one.file: one.problem for one in cache.differences(RELEASE)}
    assert problems["bin/run.sh"] == "missing"
    assert problems["libs/b.jar"] == "extra: not part of the release"
    assert problems["config/a.properties"].startswith("wrong: expected SHA-256 ")
    assert len(problems) == 3


def test_what_others_put_beside_the_releases_own_folders_is_not_a_difference(home: Path) -> None:
    (home / "logs").mkdir()
    (home / "logs" / "server.log").touch()
    assert cache.differences(RELEASE) == []


def test_a_damaged_release_is_named_and_fetched_again(home: Path, bundle: Path) -> None:
    (home / "libs/a-1.jar").write_text("half")
    said: list[str] = []
    fetch(Release("9.9.9", sources=("cache", str(bundle))), said.append)
    what = "libs/a-1.jar: wrong: expected 150000 bytes, observed 4"
    assert said[0] == f"the cached kafka_2.13-9.9.9 is damaged ({what}): fetching it again"
    assert cache.differences(RELEASE) == []


def test_a_changed_byte_is_found_when_every_file_is_read(home: Path, bundle: Path) -> None:
    (home / "config/a.properties").write_text("a=2\n")
    source = Release("9.9.9", sources=("cache", str(bundle)))
    fetch(source, print)
    assert cache.differences(RELEASE) != []
    fetch(source, print, thorough=True)
    assert cache.differences(RELEASE) == []


@pytest.fixture
def assembled(releases: Path) -> Path:
    """A release as another kcluster put it together: one script differs, and one is not known any more."""
    home = releases / "kafka_2.13-9.9.9"
    (home / "libs").mkdir(parents=True)
    (home / "libs/a-1.jar").write_text("jar")
    launch_scripts.write(RELEASE, home)
    (home / "bin/kafka-topics.sh").write_text("#!/bin/sh\nexit 1\n")
    (home / "bin/kafka-of-old.sh").touch()
    cache.mark(home, "maven")
    return home


def test_scripts_of_another_kcluster_are_written_again_and_the_jars_stay(assembled: Path) -> None:
    said: list[str] = []
    jar = (assembled / "libs/a-1.jar").stat()
    assert fetch(RELEASE, said.append) == assembled
    assert said == ["cached kafka_2.13-9.9.9 has scripts of another kcluster version: writing them again"]
    assert "TopicCommand" in (assembled / "bin/kafka-topics.sh").read_text()
    assert not (assembled / "bin/kafka-of-old.sh").exists()
    assert (assembled / "libs/a-1.jar").stat().st_ino == jar.st_ino
    assert cache.installed(RELEASE) == assembled
    assert fetch(RELEASE, said.append) == assembled
    assert len(said) == 1


def test_scripts_of_a_release_from_elsewhere_are_its_own(home: Path) -> None:
    before = (home / "bin/run.sh").stat()
    fetch(RELEASE, print)
    assert (home / "bin/run.sh").stat() == before
