"""What the release commands return."""

from __future__ import annotations

from pathlib import Path

import pytest

from kcluster.commands.release import TransferRate, amount
from kcluster.errors import ExitCode, RefusedError, UsageError
from kcluster.operations import release
from kcluster.releases import archive


@pytest.fixture(autouse=True)
def cache(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KCLUSTER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "releases"


@pytest.fixture
def source(tmp_path: Path) -> Path:
    """A small archive of 9.9.9 with its hash beside it."""
    home = tmp_path / "made"
    for name in ("bin/run.sh", "libs/a.jar"):
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(name)
    file = tmp_path / "kafka_2.13-9.9.9.tgz"
    archive.pack(home, ["bin/run.sh", "libs/a.jar"], file, "kafka_2.13-9.9.9")
    file.with_name(file.name + ".sha512").write_text(archive.sha512(file))
    return file


def test_the_list_says_of_each_release_where_it_comes_from_and_whether_it_is_here(source: Path) -> None:
    release.fetch("9.9.9", [str(source)], print)
    known = {one.version: one for one in release.listing().releases}
    assert (known["3.9.2"].maven, known["3.9.2"].state, known["3.9.2"].metadata) == (True, "", "ZooKeeper or KRaft")
    assert (known["4.1.2"].maven, known["4.1.2"].pinned, known["4.1.2"].java) == (False, True, 17)
    assert (known["9.9.9"].state, known["9.9.9"].source) == ("ready", str(source))


def test_a_damaged_release_is_listed_as_damaged(source: Path) -> None:
    home = Path(release.fetch("9.9.9", [str(source)], print).directory)
    (home / "libs" / "a.jar").unlink()
    assert [one.state for one in release.listing().releases if one.version == "9.9.9"] == ["damaged"]


def test_a_release_as_it_was_installed_verifies(source: Path) -> None:
    release.fetch("9.9.9", [str(source)], print)
    verified = release.verify("9.9.9")
    assert verified.exit_code is ExitCode.DONE
    assert verified.data()["ok"] is True


def test_a_difference_is_a_no_that_names_the_file_and_what_to_do(source: Path) -> None:
    home = Path(release.fetch("9.9.9", [str(source)], print).directory)
    (home / "libs" / "a.jar").write_text("other text")
    verified = release.verify("9.9.9")
    assert verified.exit_code is ExitCode.NO
    assert [one.file for one in verified.differences] == ["libs/a.jar"]
    assert list(verified.view())[-1] == "  try: kcluster release fetch 9.9.9"


def test_what_is_not_there_cannot_be_verified() -> None:
    with pytest.raises(RefusedError, match=r"Kafka 3.9.2 is not in the cache"):
        release.verify("3.9.2")


def test_a_bundle_can_be_fetched_again_and_gives_the_same_bundle(source: Path, tmp_path: Path, cache: Path) -> None:
    release.fetch("9.9.9", [str(source)], print)
    (tmp_path / "out").mkdir()
    bundled = release.bundle("9.9.9", tmp_path / "out", print)
    assert Path(bundled.file).read_bytes() == source.read_bytes()
    assert Path(bundled.file + ".sha512").read_text() == f"{bundled.sha512}  kafka_2.13-9.9.9.tgz\n"
    assert release.fetch("9.9.9", [bundled.file], print).source == bundled.file


def test_a_bundle_of_a_pinned_release_is_fetched_with_its_own_hash() -> None:
    for version, words in (("3.9.1", "--source FILE --sha512 abc"), ("9.9.9", "--source FILE")):
        assert list(release.Bundled(version, "file", "abc", 1).view())[-1].endswith(f"release fetch {version} {words}")


@pytest.mark.parametrize(
    ("sha512", "words"), [("", "over http:// the archive"), ("abc", "--sha512 has 3 characters and is not 128 of")]
)
def test_plain_http_without_a_whole_hash_is_refused_before_anything_is_asked(sha512: str, words: str) -> None:
    with pytest.raises(UsageError, match=words):
        release.fetch("9.9.9", ["http://127.0.0.1:1"], print, sha512=sha512)


def test_a_bundle_overwrites_nothing(source: Path) -> None:
    with pytest.raises(RefusedError, match="exists already"):
        release.bundle("9.9.9", source, print)


def test_a_bundle_needs_a_folder(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="there is no directory"):
        release.bundle("3.9.2", tmp_path / "none" / "file.tgz", print)


@pytest.mark.parametrize(
    ("how_far", "words"),
    [
        ((30_000_000, 120_000_000, "B", 10e6), "30 of 120 MB (25%), 10.0 MB/s, 9 s left"),
        ((30_000_000, None, "B", 10e6), "30 MB, 10.0 MB/s"),
        ((58, 116, "jars", 5.8), "58 of 116 jars (50%), 5.8 jars/s, 10 s left"),
        ((0, 100, "jars", 0.0), "0 of 100 jars (0%), 0.0 jars/s"),
    ],
)
def test_how_far_a_transfer_is_is_said_with_rate_and_time_left(
    how_far: tuple[int, int | None, str, float], words: str
) -> None:
    assert amount(*how_far) == words


def test_what_an_earlier_run_brought_does_not_count_for_the_rate() -> None:
    assert TransferRate().text(100_000_000, 120_000_000, "B") == "100 of 120 MB (83%), 0.0 MB/s"
