"""Archives of releases: packed the same way each time, unpacked with suspicion."""

from __future__ import annotations

import io
import tarfile
from pathlib import Path

import pytest

from kcluster.errors import RefusedError
from kcluster.releases import archive

HASH = "0123456789abcdef" * 8


def test_the_same_release_always_gives_the_same_bytes(bundle: Path, tmp_path: Path) -> None:
    archive.unpack(bundle, tmp_path / "again", "kafka_2.13-9.9.9")
    names = ["libs/a-1.jar", "bin/run.sh", "config/a.properties"]
    archive.pack(tmp_path / "again", names, tmp_path / "again.tgz", "kafka_2.13-9.9.9")
    assert (tmp_path / "again.tgz").read_bytes() == bundle.read_bytes()


def test_scripts_stay_executable_and_nothing_else_is(bundle: Path, tmp_path: Path) -> None:
    archive.unpack(bundle, tmp_path / "out", "kafka_2.13-9.9.9")
    assert (tmp_path / "out/bin/run.sh").stat().st_mode & 0o777 == 0o755
    assert (tmp_path / "out/libs/a-1.jar").stat().st_mode & 0o777 == 0o644


@pytest.mark.parametrize("name", ["other/file", "kafka_2.13-9.9.9/../../etc/passwd", "/etc/passwd"])
def test_what_would_land_elsewhere_is_refused(tmp_path: Path, name: str) -> None:
    bad = tmp_path / "bad.tgz"
    with tarfile.open(bad, "w:gz") as tar:
        tar.addfile(tarfile.TarInfo(name), io.BytesIO())
    with pytest.raises(RefusedError, match=r"bad\.tgz contains "):
        archive.unpack(bad, tmp_path / "out", "kafka_2.13-9.9.9")


def test_a_link_in_an_archive_is_refused(tmp_path: Path) -> None:
    bad = tmp_path / "bad.tgz"
    link = tarfile.TarInfo("kafka_2.13-9.9.9/libs")
    link.type, link.linkname = tarfile.SYMTYPE, "/etc"
    with tarfile.open(bad, "w:gz") as tar:
        tar.addfile(link)
    with pytest.raises(RefusedError, match=r"contains kafka_2.13-9.9.9/libs"):
        archive.unpack(bad, tmp_path / "out", "kafka_2.13-9.9.9")


def test_half_an_archive_is_refused(bundle: Path, tmp_path: Path) -> None:
    bundle.write_bytes(bundle.read_bytes()[:-200])
    with pytest.raises(RefusedError, match="is not a complete release archive"):
        archive.unpack(bundle, tmp_path / "out", "kafka_2.13-9.9.9")


def test_an_archive_without_jars_is_refused(tmp_path: Path) -> None:
    bad = tmp_path / "bad.tgz"
    with tarfile.open(bad, "w:gz") as tar:
        tar.addfile(tarfile.TarInfo("kafka_2.13-9.9.9/bin/run.sh"), io.BytesIO())
    with pytest.raises(RefusedError, match=r"has no kafka_2.13-9.9.9/libs/"):
        archive.unpack(bad, tmp_path / "out", "kafka_2.13-9.9.9")


@pytest.mark.parametrize(
    "text",
    [
        f"{HASH}  kafka_2.13-3.9.2.tgz\n",
        f"{HASH.upper()}\n",
        f"SHA512 (kafka_2.13-3.9.2.tgz) = {HASH}\n",
        "kafka_2.13-3.9.2.tgz: " + " ".join(HASH[i : i + 8].upper() for i in range(0, 128, 8)),
        "kafka_2.13-3.9.2.tgz: 01234567 89ABCDEF 01234567 89ABCDEF 01234567 89ABCDEF\n"
        + "                      01234567 89ABCDEF 01234567 89ABCDEF 01234567 89ABCDEF\n"
        + "                      01234567 89ABCDEF 01234567 89ABCDEF\n",
    ],
)
def test_a_published_hash_is_read_in_every_form_it_comes_in(text: str) -> None:
    assert archive.published(text) == HASH


@pytest.mark.parametrize("text", ["", "<html>not found</html>", HASH[:-1], f"file: {HASH[:64]}"])
def test_what_is_no_hash_is_not_taken_for_one(text: str) -> None:
    assert archive.published(text) == ""
