"""The file a release travels in: made once, made again when the release is another, forgotten when it is damaged."""

from __future__ import annotations

import json
import tarfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kcluster.model.release import Release
from kcluster.releases import archive, cache, tarball

RELEASE = Release("3.9.2")


def quiet(_text: str) -> None:
    """Nobody watches."""


@pytest.fixture
def home(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> Path:
    """A small release in the cache."""
    monkeypatch.setenv("KCLUSTER_CACHE", str(tmp_path))
    home = cache.directory(RELEASE)
    for name in ("bin/start.sh", "libs/a.jar", "config/x"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(name)
    cache.mark(home, "a file")
    return home


def test_it_is_made_once_however_many_ask_and_holds_the_release_only(
    home: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (home / "cds").mkdir()
    (home / "cds/broker.jsa").write_text("of this machine")
    made: list[Path] = []
    bundle = archive.bundle
    monkeypatch.setattr(archive, "bundle", lambda files, file: made.append(file) or bundle(files, file))
    with ThreadPoolExecutor(6) as pool:
        (tar,) = set(pool.map(lambda _: tarball.tarball(RELEASE, quiet), range(6)))
    assert made == [tar.path]
    assert tar.whole()
    assert tar.size == tar.path.stat().st_size
    with tarfile.open(tar.path) as content:
        assert content.getnames() == ["bin/start.sh", "config/x", "libs/a.jar"]


def test_another_content_of_the_release_makes_another_file(home: Path) -> None:
    before = tarball.tarball(RELEASE, quiet)
    (home / "libs/a.jar").write_text("newer")
    cache.mark(home, "a file")
    after = tarball.tarball(RELEASE, quiet)
    assert after.sha512 != before.sha512
    assert after.whole()


def test_a_damaged_or_half_written_one_is_noticed_and_made_again(home: Path) -> None:
    tar = tarball.tarball(RELEASE, quiet)
    content = tar.path.read_bytes()
    tar.path.write_bytes(content[:-1] + b"X")
    assert not tar.whole()
    tarball.forget(tar)
    assert tarball.tarball(RELEASE, quiet) == tar
    assert tar.path.read_bytes() == content

    tar.path.write_bytes(content[:100])  # a disk that was full
    assert tarball.tarball(RELEASE, quiet).whole()
    record = tar.path.with_name(f"{tar.path.name}.json")
    record.write_text(json.dumps({"sha512": 1})[:-3])
    assert tarball.tarball(RELEASE, quiet).whole()


def test_only_so_many_send_at_once_and_the_next_waits_for_a_turn(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tarball, "_AT_ONCE", 20)
    sending: list[int] = []
    most: list[int] = []

    def send(number: int) -> None:
        with tarball.turn(10):
            sending.append(number)
            most.append(len(sending))
            sending.remove(number)

    with ThreadPoolExecutor(8) as pool:
        list(pool.map(send, range(40)))
    assert len(most) == 40
    assert max(most) <= 2
