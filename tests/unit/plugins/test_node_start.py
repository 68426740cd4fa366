"""The script that units start a node with, and the archive of classes it chooses."""

from __future__ import annotations

import os
import subprocess
from collections.abc import Callable
from pathlib import Path

import pytest

from kcluster.render import Template, compiled

Start = Callable[..., str]


@pytest.fixture
def cache(tmp_path: Path) -> Path:
    """The unit's cache directory, made by systemd."""
    (tmp_path / "cache/kafka").mkdir(parents=True)
    return tmp_path / "cache/kafka"


@pytest.fixture
def start(tmp_path: Path, cache: Path) -> Start:
    """Run the script as the unit does; gives the JVM options of the heap as the launch script sees them."""
    release, java = tmp_path / "opt/kafka_2.13-3.9.2", tmp_path / "java"
    for folder in (release / "bin", release / "libs", java / "bin", java / "lib/server", tmp_path / "run/kafka"):
        folder.mkdir(parents=True)
    (tmp_path / "opt/current").symlink_to("kafka_2.13-3.9.2")
    (java / "bin/java").touch(mode=0o755)
    (java / "lib/server/libjvm.so").write_text("built on Monday")
    (tmp_path / "server.properties").write_text("a=1\n")
    (tmp_path / "kafka.env").write_text("KAFKA_HEAP_OPTS=-Xmx1g\n")
    launch = release / "bin/kafka-server-start.sh"
    launch.write_text('#!/bin/sh\nread -r a <"$1" && echo "$a $# $KAFKA_HEAP_OPTS"\n')
    launch.chmod(0o755)
    script = tmp_path / "start-node.sh"
    text = compiled(Template.START_NODE).render()
    script.write_text(text.replace("/run/", f"{tmp_path}/run/").replace("/var/cache/", f"{tmp_path}/cache/"))

    def run(java_version: str = "17.0.15", **environment: str) -> str:
        (java / "release").write_text(f'IMPLEMENTOR="any"\nJAVA_VERSION="{java_version}"\n')
        surroundings = {"PATH": os.environ["PATH"], "JAVA_HOME": str(java), "KAFKA_HEAP_OPTS": "-Xmx1g", **environment}
        files = [tmp_path / "server.properties", tmp_path / "kafka.env"]
        command = ["sh", script, "kafka", tmp_path / "opt/current/bin/kafka-server-start.sh", *files]
        done = subprocess.run(command, env=surroundings, check=True, capture_output=True, text=True)
        started = "a=1 1 -Xmx1g"  # with its configuration, and nothing else
        assert done.stdout.startswith(started)
        return done.stdout.removeprefix(started).strip()

    return run


def end(cache: Path, how: str) -> None:
    """The JVM writes the archive it was told to make, when it ends orderly; then systemd says how the unit ended."""
    (cache / "ended").write_text(f"{how}\n")


def archive(chosen: str) -> Path:
    return Path(chosen.partition("ArchiveClassesAtExit=")[2].partition(".new")[0] + ".new")


def archives(cache: Path) -> list[Path]:
    return [*cache.glob("*.jsa"), *cache.glob("*.new")]


def test_what_a_process_starts_with_is_kept(start: Start, tmp_path: Path) -> None:
    start()
    assert (tmp_path / "run/kafka/server.properties").read_text() == "a=1\n"
    assert (tmp_path / "run/kafka/kafka.env").read_text() == "KAFKA_HEAP_OPTS=-Xmx1g\n"
    assert (tmp_path / "run/kafka/release").read_text() == "kafka_2.13-3.9.2\n"


def test_an_empty_lost_and_found_of_a_data_directory_is_removed(start: Start, tmp_path: Path) -> None:
    fresh, mended, without = (tmp_path / name for name in ("1/kafka", "2/kafka", "3/kafka"))
    for disk in (fresh, mended):
        (disk / "lost+found").mkdir(parents=True)
    (mended / "lost+found/#12").write_text("a partition's, perhaps")
    config = tmp_path / "server.properties"
    start()
    config.write_text(f"a=1\nlog.dirs={fresh},{mended},{without}\nzookeeper.connect=a:2181,b:2181/lost\n")
    start()
    assert not (fresh / "lost+found").exists()
    assert (mended / "lost+found/#12").exists()
    assert not without.exists()


def test_an_archive_is_made_by_the_first_run_and_used_by_the_next_ones(start: Start, cache: Path) -> None:
    first = start()
    assert first.startswith("-XX:ArchiveClassesAtExit=")
    archive(first).write_text("classes")
    end(cache, "success")
    second = start()
    made = archive(first).with_suffix("")
    assert f"-XX:SharedArchiveFile={made} " in second
    assert made.read_text() == "classes"
    assert start() == second  # also after a power cut, when nobody says how the last run ended


def test_a_node_starts_also_where_nothing_can_be_prepared(start: Start, cache: Path, tmp_path: Path) -> None:
    (tmp_path / "run/kafka").rmdir()
    cache.rmdir()
    cache.touch()  # a file where the unit's folder should be
    assert "SharedArchiveFile" not in start()
    (tmp_path / "java/lib/server/libjvm.so").unlink()
    assert "SharedArchiveFile" not in start()


def test_an_archive_of_a_run_that_was_cut_off_is_not_trusted(start: Start, cache: Path) -> None:
    first = start()
    archive(first).write_text("half")
    assert start() == first
    assert archives(cache) == []


@pytest.mark.parametrize("how", ["exit-code", "core-dump", "signal", "timeout"])
def test_after_a_bad_end_the_node_starts_without_an_archive(start: Start, cache: Path, how: str) -> None:
    first = start()
    archive(first).write_text("classes")
    end(cache, "success")
    start()
    end(cache, how)
    assert start() == ""
    assert archives(cache) == []
    assert start() == first


@pytest.mark.parametrize("options", ["-javaagent:/opt/jmx.jar=7071", "-agentlib:jdwp", "-Xshare:off"])
def test_options_that_do_not_go_with_archives_are_left_alone(start: Start, options: str) -> None:
    assert start(KAFKA_OPTS=options) == ""
    assert start(JAVA_TOOL_OPTIONS=options) == ""


@pytest.mark.parametrize("version", ["11.0.26", "1.8.0_442", ""])
def test_an_old_or_unknown_java_starts_without(start: Start, version: str) -> None:
    assert start(version) == ""


def test_another_java_or_other_options_make_an_archive_of_their_own(start: Start, cache: Path, tmp_path: Path) -> None:
    first = start()
    archive(first).write_text("classes")
    end(cache, "success")
    assert "SharedArchiveFile" in start()
    assert "ArchiveClassesAtExit" in start(KAFKA_OPTS="-XX:+UseZGC")
    assert archives(cache) == []  # of archives that do not fit any more none is kept
    (tmp_path / "java/lib/server/libjvm.so").write_text("built on a Tuesday")
    archive(first).write_text("classes of Monday's Java")
    end(cache, "success")
    assert "ArchiveClassesAtExit" in start()
    assert archives(cache) == []
