"""The release on its host, with folders of this machine: whole or not at all, whatever happens on the way."""

from __future__ import annotations

import errno
import hashlib
import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kcluster.clients import host_scripts
from kcluster.releases import archive
from tests.children import child

NAME = "kafka_2.13-3.9.2"
FILES = {"bin/kafka-server-start.sh": "#!/bin/sh\n", "libs/kafka.jar": "jar" * 50_000, "config/log4j.properties": ""}


@pytest.fixture
def release(plugin: Callable[[str], ModuleType]) -> ModuleType:
    """What runs on the host."""
    return plugin("module_utils.release")


@pytest.fixture
def tar(tmp_path: Path) -> Path:
    """A small release as it travels."""
    home = tmp_path / "home"
    for name, text in FILES.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    (home / "bin/kafka-server-start.sh").chmod(0o755)
    archive.bundle({name: home / name for name in FILES}, tmp_path / "release.tar")
    return tmp_path / "release.tar"


@pytest.fixture
def install_dir(tmp_path: Path) -> Path:
    """Where releases are installed."""
    (tmp_path / "opt").mkdir()
    return tmp_path / "opt"


def install(release: ModuleType, install_dir: Path, sent: bytes, told: bytes | None = None) -> None:
    """Send a tar; `told` is what it should be."""
    told = sent if told is None else told
    release.install(io.BytesIO(sent), str(install_dir), NAME, hashlib.sha512(told).hexdigest(), len(told))


@contextmanager
def receiver(install_dir: Path, tar: bytes, silence: int = 60) -> Iterator[subprocess.Popen[bytes]]:
    """The receiver as the action plugin starts it: its own text first, then the release, on standard input."""
    question = {
        "install_dir": str(install_dir),
        "name": NAME,
        "sha512": hashlib.sha512(tar).hexdigest(),
        "size": len(tar),
    }
    text = host_scripts.program("release", question, function="receive").encode()
    text = text.replace(b"SILENCE = 60", b"SILENCE = %d" % silence)
    code = f"import sys; exec(sys.stdin.buffer.read({len(text)}))"
    with child([sys.executable, "-c", code], stdin=subprocess.PIPE, stdout=subprocess.PIPE) as started:
        started.stdin.write(text)
        yield started


def receive(install_dir: Path, tar: bytes) -> Any:
    """What the receiver answers to a whole release."""
    with receiver(install_dir, tar) as started:
        return json.loads(started.communicate(tar)[0])


def test_the_same_release_gives_the_same_bytes(tar: Path, tmp_path: Path) -> None:
    os.utime(tmp_path / "home/libs/kafka.jar", (1, 1))
    archive.bundle({name: tmp_path / "home" / name for name in reversed(FILES)}, tmp_path / "again.tar")
    assert (tmp_path / "again.tar").read_bytes() == tar.read_bytes()


def test_a_release_is_taken_in_with_its_files_and_marked(release: ModuleType, install_dir: Path, tar: Path) -> None:
    assert receive(install_dir, tar.read_bytes()) == {"installed": True}
    assert release.installed(str(install_dir), NAME) == archive.sha512(tar)
    assert release.pointed(str(install_dir / "current")) == NAME
    assert {name: (install_dir / "current" / name).read_text() for name in FILES} == FILES
    assert os.access(install_dir / NAME / "bin/kafka-server-start.sh", os.X_OK)
    assert not os.access(install_dir / NAME / "libs/kafka.jar", os.X_OK)
    assert sorted(os.listdir(install_dir)) == ["current", NAME]


def test_what_an_interrupted_run_left_is_cleared_and_another_release_stays(
    release: ModuleType, install_dir: Path, tar: Path
) -> None:
    (install_dir / f".{NAME}.partial/libs").mkdir(parents=True)
    (install_dir / NAME / "libs").mkdir(parents=True)  # renamed by an older run, without its marker
    (install_dir / "kafka_2.13-3.9.1").mkdir()
    (install_dir / ".current.new").symlink_to("nowhere")
    assert receive(install_dir, tar.read_bytes()) == {"installed": True}
    assert sorted(os.listdir(install_dir)) == ["current", "kafka_2.13-3.9.1", NAME]


def test_a_release_that_is_there_is_not_written_again(release: ModuleType, install_dir: Path, tar: Path) -> None:
    receive(install_dir, tar.read_bytes())
    before = (install_dir / NAME / "libs/kafka.jar").stat()
    assert receive(install_dir, tar.read_bytes()) == {"installed": True}
    assert (install_dir / NAME / "libs/kafka.jar").stat() == before


def test_wrong_bytes_are_refused_with_both_hashes_and_nothing_is_left(
    release: ModuleType, install_dir: Path, tar: Path
) -> None:
    right = tar.read_bytes()
    for position in (len(right) // 2, 100):  # in a file, and in a header
        wrong = right[:position] + b"X" + right[position + 1 :]
        with pytest.raises(release.HostRefusedError, match=r"wrong SHA-512 .* nothing was installed") as caught:
            install(release, install_dir, wrong, right)
        assert hashlib.sha512(right).hexdigest() in str(caught.value)
        assert hashlib.sha512(wrong).hexdigest() in str(caught.value)
        assert os.listdir(install_dir) == []


def test_a_stream_that_breaks_off_is_refused_and_nothing_is_left(
    release: ModuleType, install_dir: Path, tar: Path
) -> None:
    right = tar.read_bytes()
    for length in (0, 300, len(right) // 2, len(right) - 1):
        with pytest.raises(release.HostRefusedError, match=rf"only in part, {length} of {len(right)} bytes"):
            install(release, install_dir, right[:length], right)
        assert os.listdir(install_dir) == []


def test_a_sender_that_falls_silent_is_given_up_so_that_the_next_run_need_not_wait(
    install_dir: Path, tar: Path
) -> None:
    content = tar.read_bytes()
    with receiver(install_dir, content, silence=1) as waiting:
        assert waiting.stdin
        assert waiting.stdout
        waiting.stdin.write(content[:70_000])
        waiting.stdin.flush()
        answer = json.loads(waiting.stdout.readline())
    assert answer == {
        "installed": False,
        "msg": "nothing came from the control node for 1 seconds; nothing was installed",
    }
    assert os.listdir(install_dir) == []


def test_a_full_disk_is_one_sentence_and_nothing_is_left(
    release: ModuleType, install_dir: Path, tar: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    def full(*_: object) -> None:
        raise OSError(errno.ENOSPC, "No space left on device")

    monkeypatch.setattr(release.shutil, "copyfileobj", full)
    with pytest.raises(
        release.HostRefusedError, match=rf"no space left in {install_dir} for {NAME}; nothing was install"
    ):
        install(release, install_dir, tar.read_bytes())
    assert os.listdir(install_dir) == []


def test_a_current_that_is_not_a_link_is_left_alone(plugin: Callable[[str], ModuleType], install_dir: Path) -> None:
    (install_dir / "current").mkdir()
    release = plugin("module_utils.release")
    with pytest.raises(release.HostRefusedError, match="is not a link"):
        plugin("modules.release").ensure(str(install_dir), NAME, False)


def test_the_module_moves_only_the_link_and_says_what_is_missing(
    plugin: Callable[[str], ModuleType], install_dir: Path, tar: Path
) -> None:
    ensure = plugin("modules.release").ensure
    missing = ensure(str(install_dir / "not/there"), NAME, False)
    assert (missing["missing"], missing["changed"], missing["free_bytes"] > 0) == (True, True, True)

    receive(install_dir, tar.read_bytes())
    assert ensure(str(install_dir), NAME, False)["changed"] is False
    (install_dir / "current").unlink()
    (install_dir / "current").symlink_to("kafka_2.13-3.9.1")
    would = ensure(str(install_dir), NAME, True)
    assert os.readlink(install_dir / "current") == "kafka_2.13-3.9.1"
    assert would["diff"] == ensure(str(install_dir), NAME, False)["diff"]
    assert [(part["before"], part["after"]) for part in would["diff"]] == [("kafka_2.13-3.9.1\n", f"{NAME}\n")]
    assert os.readlink(install_dir / "current") == NAME
