"""A real release, put together by the real Maven, and what its own programs say."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import time
import zipfile
from pathlib import Path

import pytest

from kcluster.model.release import Release
from kcluster.releases import launch_scripts, tables
from kcluster.releases.fetch import fetch
from tests.children import child


@pytest.fixture(scope="module")
def assembled(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A cache of our own, in which 3.9.2 was just assembled."""
    cache = tmp_path_factory.mktemp("cache")
    done = kcluster(cache, "fetch", "3.9.2", "--source", "maven", "-o", "json")
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["source"] == "maven"
    return cache


def kcluster(cache: Path, *words: str) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "kcluster", "release", *words]
    environment = {**os.environ, "KCLUSTER_CACHE": str(cache)}
    return subprocess.run(command, capture_output=True, text=True, env=environment, stdin=subprocess.DEVNULL)


def script(cache: Path, *words: str) -> str:
    home = cache / "releases" / "kafka_2.13-3.9.2"
    done = subprocess.run([home / "bin" / words[0], *words[1:]], capture_output=True, text=True)
    assert (done.returncode, done.stderr) == (0, "")
    return done.stdout


def test_the_tools_of_an_assembled_release_run_without_a_word_on_stderr(assembled: Path) -> None:
    assert script(assembled, "kafka-topics.sh", "--version").split()[0] == "3.9.2"
    assert re.fullmatch(r"[\w-]{22}\n", script(assembled, "kafka-storage.sh", "random-uuid"))


def test_an_assembled_release_verifies_until_a_jar_is_touched(assembled: Path) -> None:
    assert kcluster(assembled, "verify", "3.9.2").returncode == 0
    jar = assembled / "releases/kafka_2.13-3.9.2/libs/kafka-clients-3.9.2.jar"
    good = jar.read_bytes()
    try:
        jar.write_bytes(good[:-1] + b"x")
        done = kcluster(assembled, "verify", "3.9.2")
        assert done.returncode == 4
        assert "libs/kafka-clients-3.9.2.jar  wrong: expected SHA-256" in done.stdout
    finally:
        jar.write_bytes(good)


def test_a_bundle_of_it_installs_on_a_machine_without_maven(assembled: Path, tmp_path: Path) -> None:
    assert kcluster(assembled, "bundle", "3.9.2", str(tmp_path)).returncode == 0
    other = tmp_path / "other"
    done = kcluster(other, "fetch", "3.9.2", "--source", str(tmp_path))
    assert done.returncode == 0, done.stderr
    assert kcluster(other, "verify", "3.9.2").returncode == 0


def test_a_disk_that_is_full_stops_maven_and_leaves_nothing(tmp_path: Path) -> None:
    limited = f"ulimit -f 2000; exec {sys.executable} -m kcluster release fetch 3.9.2 --source maven"
    environment = {**os.environ, "KCLUSTER_CACHE": str(tmp_path)}
    done = subprocess.run(["sh", "-c", limited], capture_output=True, text=True, env=environment)
    assert done.returncode == 5
    assert f"error: no space left in {tmp_path}/releases for kafka_2.13-3.9.2; nothing was installed" in done.stderr
    assert [path.name for path in (tmp_path / "releases").iterdir()] == [".kafka_2.13-3.9.2.lock"]


@pytest.mark.parametrize("version", ["3.9.2", "4.1.1", "4.2.0"])
def test_the_packaged_tables_are_what_the_release_prints(version: str) -> None:
    release = Release(version)
    assert tables.packaged(release).read_text() == tables.text(tables.read(fetch(release, print)))


@pytest.mark.parametrize("version", ["3.9.1", "3.9.2", "4.1.1", "4.2.0"])
def test_every_script_starts_a_class_that_the_release_has(version: str) -> None:
    release = Release(version)
    home = fetch(release, print)
    present = {name for jar in (home / "libs").glob("*.jar") for name in zipfile.ZipFile(jar).namelist()}
    wanted = {
        **launch_scripts.classes(release),
        **{name: values["class"] for name, values in launch_scripts.servers(release).items()},
    }
    missing = [
        name for name, java_class in wanted.items() if java_class.split()[0].replace(".", "/") + ".class" not in present
    ]
    assert missing == []


def test_ctrl_c_stops_maven_as_well_and_leaves_nothing(tmp_path: Path) -> None:
    mvn = tmp_path / "bin" / "mvn"
    mvn.parent.mkdir()
    # More than a pipe holds: once all of it is written, kcluster is reading what Maven says.
    mvn.write_text("#!/bin/sh\nyes | head -c 200000\necho $$ >{}\nexec sleep 60\n".format(tmp_path / "pid"))
    mvn.chmod(0o755)
    command = [sys.executable, "-m", "kcluster", "release", "fetch", "3.9.2", "--source", "maven"]
    environment = {**os.environ, "KCLUSTER_CACHE": str(tmp_path), "PATH": f"{mvn.parent}:{os.environ['PATH']}"}
    with child(command, env=environment, stderr=subprocess.PIPE, text=True) as run:
        pid = started(tmp_path / "pid")
        run.send_signal(signal.SIGINT)
        _, said = run.communicate(timeout=40)
    assert run.returncode == 130
    assert "Traceback" not in said
    with pytest.raises(ProcessLookupError):
        os.kill(pid, 0)
    assert [path.name for path in (tmp_path / "releases").iterdir()] == [".kafka_2.13-3.9.2.lock"]


def started(pid_file: Path) -> int:
    """The process id in a file, as soon as it is there."""
    deadline = time.monotonic() + 20
    while time.monotonic() < deadline:
        if pid_file.exists() and (text := pid_file.read_text()).endswith("\n"):
            return int(text)
    raise AssertionError(f"nothing wrote {pid_file}")


def test_a_disk_that_fills_up_while_unpacking_keeps_nothing_half_installed(assembled: Path, tmp_path: Path) -> None:
    bundle, small = tmp_path / "kafka.tgz", tmp_path / "small"
    small.mkdir()
    assert kcluster(assembled, "bundle", "3.9.2", str(bundle)).returncode == 0
    # A disk of 20 MB that only this process sees: the release needs six times that.
    on_it = 'mount -t tmpfs -o size=20m none "$0" && "$@"; code=$?; ls -A "$0/releases"; exit $code'
    fetch = [sys.executable, "-m", "kcluster", "release", "fetch", "3.9.2", "--source", str(bundle)]
    done = subprocess.run(
        ["unshare", "--map-root-user", "--mount", "sh", "-c", on_it, str(small), *fetch],
        capture_output=True,
        text=True,
        env={**os.environ, "KCLUSTER_CACHE": str(small)},
    )
    assert done.returncode == 5, done.stderr
    assert f"error: no space left in {small}" in done.stderr
    assert "  try: " in done.stderr
    assert done.stdout.split() == [".kafka_2.13-3.9.2.lock"]
