"""Every source in its order, and nothing unverified."""

from __future__ import annotations

import fcntl
import threading
from pathlib import Path

import pytest

from kcluster.errors import ApplyError, RefusedError, UnreachableError, UsageError
from kcluster.model.release import Release
from kcluster.releases import archive, cache, manifest, sources
from kcluster.releases.fetch import fetch, known
from tests.web import Web

PATH = "/9.9.9/kafka_2.13-9.9.9.tgz"
NOWHERE = "http://127.0.0.1:1"


def release(*from_: str, sha512: str = "") -> Release:
    return Release("9.9.9", sources=from_, sha512=sha512)


def publish(web: Web, bundle: Path) -> None:
    web.files[PATH] = bundle.read_bytes()
    web.files[PATH + ".sha512"] = bundle.with_name(bundle.name + ".sha512").read_bytes()


def left(releases: Path) -> set[str]:
    """What is in the cache besides the lock and the empty folder of downloads."""
    return {path.name for path in releases.iterdir()} - {".kafka_2.13-9.9.9.lock", ".downloads"}


def test_a_file_is_verified_unpacked_and_marked_complete(bundle: Path, releases: Path) -> None:
    home = fetch(release(str(bundle)), print)
    assert home == releases / "kafka_2.13-9.9.9" == cache.installed(release())
    assert left(releases) == {"kafka_2.13-9.9.9"}


def test_a_folder_means_the_archive_in_it(bundle: Path) -> None:
    assert fetch(release(str(bundle.parent)), print).is_dir()


def test_file_means_the_current_folder(bundle: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.chdir(bundle.parent)
    assert fetch(release("file"), print).is_dir()


def test_what_is_in_the_cache_is_not_fetched_again(bundle: Path) -> None:
    home = fetch(release(str(bundle)), print)
    said: list[str] = []
    assert fetch(release("cache", NOWHERE), said.append) == home
    assert said == []


def test_a_mirror_is_asked_for_apaches_layout_and_the_published_hash_counts(web: Web, bundle: Path) -> None:
    publish(web, bundle)
    assert fetch(release(web.url), print).is_dir()
    assert [path for path, _ in web.asked] == [PATH + ".sha512", PATH]


def test_a_url_may_name_the_archive_itself(web: Web, bundle: Path) -> None:
    publish(web, bundle)
    assert fetch(release(web.url + PATH), print).is_dir()


def test_a_hash_as_gpg_prints_it_is_understood(web: Web, bundle: Path) -> None:
    publish(web, bundle)
    digits = archive.sha512(bundle).upper()
    groups = [digits[start : start + 8] for start in range(0, 128, 8)]
    lines = [" ".join(groups[start : start + 6]) for start in range(0, 16, 6)]
    web.files[PATH + ".sha512"] = (f"{bundle.name}: " + "\n                 ".join(lines) + "\n").encode()
    assert fetch(release(web.url), print).is_dir()


def beside(web: Web, bundle: Path, text: str) -> None:
    """Publish an archive with another hash beside it, on the server and as a file."""
    publish(web, bundle)
    web.files[PATH + ".sha512"] = text.encode()
    bundle.with_name(bundle.name + ".sha512").write_text(text)


def test_the_pinned_hash_outranks_the_one_beside_an_archive_and_both_are_named(
    web: Web, bundle: Path, releases: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    """A mirror that was taken over has its own archive and the hash that fits it."""
    pin, theirs = "a" * 128, archive.sha512(bundle)
    beside(web, bundle, theirs)
    monkeypatch.setattr(manifest, "pins", lambda: {"9.9.9": pin})
    for source, name in ((web.url, web.url + PATH), (str(bundle), str(bundle))):
        with pytest.raises(RefusedError, match=f"^{name}.sha512 names another hash than the one packa") as caught:
            fetch(release(source), print)
        assert caught.value.details == f"{pin}  packaged with kcluster\n{theirs}  published"
        assert "kafka_release_sha512" in caught.value.resolution
    assert [path for path, _ in web.asked] == [PATH + ".sha512"]
    assert left(releases) <= {".downloads"}


def test_the_hash_of_the_inventory_outranks_the_pinned_one_and_none_need_be_published(
    web: Web, bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    ours = archive.sha512(bundle)
    monkeypatch.setattr(manifest, "pins", lambda: {"9.9.9": "a" * 128})
    publish(web, bundle)
    assert fetch(release(web.url, sha512=ours), print).is_dir()
    beside(web, bundle, "<html>please log in</html>")
    assert fetch(release(str(bundle), sha512=ours), print).is_dir()
    beside(web, bundle, "b" * 128)
    with pytest.raises(RefusedError, match="names another hash than the one given") as caught:
        fetch(release(web.url, sha512=ours), print)
    assert caught.value.details == f"{ours}  given\n{'b' * 128}  published"


def test_an_archive_that_was_fetched_for_another_hash_is_fetched_again(web: Web, bundle: Path) -> None:
    publish(web, bundle)
    fetch(release(str(bundle)), print)
    assert fetch(release("cache", NOWHERE, sha512=archive.sha512(bundle)), print).is_dir()
    with pytest.raises(UnreachableError, match="could not be fetched"):
        fetch(release("cache", NOWHERE, sha512="b" * 128), print)


def test_a_pinned_hash_counts_at_apache_and_its_server_need_not_publish_one(
    web: Web, bundle: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    publish(web, bundle)
    del web.files[PATH + ".sha512"]
    monkeypatch.setattr(sources, "APACHE", web.url)
    monkeypatch.setattr(manifest, "pins", lambda: {"9.9.9": archive.sha512(bundle)})
    assert fetch(release("url"), print).is_dir()
    assert [path for path, _ in web.asked] == [PATH + ".sha512", PATH]


def test_a_wrong_hash_is_refused_and_named_and_no_other_source_is_tried(web: Web, bundle: Path, releases: Path) -> None:
    publish(web, bundle)
    web.files[PATH] = web.files[PATH][:-1] + b"x"
    with pytest.raises(RefusedError, match=f"the hash of {web.url}{PATH} is wrong") as caught:
        fetch(release(web.url, str(bundle)), print)
    assert f"expected SHA-512 {archive.sha512(bundle)}" in caught.value.details
    assert left(releases) == set()
    assert not list((releases / ".downloads").iterdir())


def test_a_file_with_a_wrong_hash_is_refused(bundle: Path) -> None:
    bundle.write_bytes(bundle.read_bytes() + b"x")
    with pytest.raises(RefusedError, match="is wrong"):
        fetch(release(str(bundle)), print)


def test_a_file_with_nothing_to_verify_it_is_refused(bundle: Path) -> None:
    bundle.with_name(bundle.name + ".sha512").unlink()
    with pytest.raises(RefusedError, match=r"there is no kafka_2.13-9.9.9.tgz.sha512 beside it"):
        fetch(release(str(bundle)), print)


def test_a_server_that_publishes_no_hash_is_not_trusted(web: Web, bundle: Path) -> None:
    publish(web, bundle)
    del web.files[PATH + ".sha512"]
    with pytest.raises(UnreachableError) as caught:
        fetch(release(web.url), print)
    assert "to verify the archive with" in caught.value.details


def test_a_hash_file_without_a_hash_is_refused(web: Web, bundle: Path) -> None:
    publish(web, bundle)
    web.files[PATH + ".sha512"] = b"<html>please log in</html>"
    with pytest.raises(RefusedError, match="has no SHA-512"):
        fetch(release(web.url), print)


def test_when_a_source_cannot_be_reached_the_next_one_is_tried_and_the_user_is_told(web: Web, bundle: Path) -> None:
    publish(web, bundle)
    said: list[str] = []
    assert fetch(release("maven", NOWHERE, web.url), said.append).is_dir()
    assert said[0].startswith("maven: no list of jars for kafka_2.13-9.9.9")
    assert said[1] == f"{NOWHERE}{PATH}.sha512 cannot be reached: Connection refused; trying {web.url}"


def test_a_404_leads_to_the_next_source(web: Web, bundle: Path) -> None:
    assert fetch(release(web.url, str(bundle)), print).is_dir()


def test_when_nothing_works_each_source_is_named_with_its_reason(web: Web, tmp_path: Path) -> None:
    with pytest.raises(UnreachableError, match="could not be fetched from any source") as caught:
        fetch(release(NOWHERE, str(tmp_path / "none.tgz"), web.url), print)
    reasons = caught.value.details.splitlines()
    assert reasons[0].endswith("Connection refused")
    assert reasons[1] == f"there is no file {tmp_path}/none.tgz"
    assert "none" not in reasons[2]
    assert web.url in reasons[2]


def test_an_unknown_version_is_told_with_the_known_ones_and_the_nearest(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sources, "APACHE", NOWHERE)
    with pytest.raises(UsageError, match=r"Kafka 3.9.22 is unknown, and no source has it") as caught:
        fetch(Release("3.9.22", sources=("cache", "maven", "url")), print)
    assert caught.value.resolution.startswith("3.9.2 (known: 3.9.0, 3.9.1, 3.9.2, ")


@pytest.mark.parametrize("version", ["latest", "3.9", "3.x", "../3.9.2", ""])
def test_what_is_no_version_is_refused_before_anything_is_asked(version: str) -> None:
    with pytest.raises(UsageError, match="is not a Kafka version"):
        fetch(Release(version), print)


def test_the_known_versions_are_those_of_maven_and_those_with_a_pinned_hash() -> None:
    assert {"3.9.0", "3.9.2", "4.2.0"} <= set(known())


def test_only_the_cache_and_not_there_is_refused() -> None:
    with pytest.raises(RefusedError, match="is not in the cache, and no other source is set"):
        fetch(Release("3.9.2", sources=("cache",)), print)


def test_an_interrupted_download_goes_on_in_the_next_run(web: Web, bundle: Path) -> None:
    publish(web, bundle)
    size = len(web.files[PATH])
    web.cut_after = [1000, size - 10, 0]  # of: the hash, the archive, and the attempt to go on with it
    with pytest.raises(UnreachableError, match="could not be fetched"):
        fetch(release(web.url), print)
    said: list[str] = []
    assert fetch(release(web.url), said.append).is_dir()
    assert said[0] == f"resuming {web.url}{PATH}"
    assert web.asked[-1] == (PATH, f"bytes={size - 10}-")


def test_a_download_that_was_continued_wrongly_starts_over_once(web: Web, bundle: Path) -> None:
    publish(web, bundle)
    part = sources._part(web.url + PATH)
    part.write_bytes(b"something else")
    said: list[str] = []
    assert fetch(release(web.url), said.append).is_dir()
    assert "does not match its hash after resuming: downloading it again" in said[1]


def test_a_full_disk_leaves_nothing_and_says_what_to_do(
    bundle: Path, releases: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    import resource

    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (100_000, hard))
    try:
        with pytest.raises(ApplyError, match=r"no space left in .* nothing was installed") as caught:
            fetch(release(str(bundle)), print)
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
    assert "KCLUSTER_CACHE" in caught.value.resolution
    assert left(releases) == set()


def test_a_cache_that_cannot_be_written_is_named(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    (tmp_path / "file").touch()
    monkeypatch.setenv("KCLUSTER_CACHE", str(tmp_path / "file"))
    with pytest.raises(ApplyError, match=f"cannot write kafka_2.13-9.9.9 in {tmp_path}/file/releases"):
        fetch(release("maven"), print)


def test_what_an_interrupted_run_left_is_cleared_away(bundle: Path, releases: Path) -> None:
    half = releases / ".staging-kafka_2.13-9.9.9" / "libs"
    half.mkdir(parents=True)
    (half / "other.jar").write_text("half")
    home = fetch(release(str(bundle)), print)
    assert not (home / "libs" / "other.jar").exists()
    assert left(releases) == {"kafka_2.13-9.9.9"}


def test_two_runs_at_once_do_not_fight(bundle: Path, releases: Path) -> None:
    releases.mkdir(parents=True)
    said: list[str] = []
    waiting = threading.Event()

    def progress(text: str) -> None:
        said.append(text)
        waiting.set()

    with (releases / ".kafka_2.13-9.9.9.lock").open("w") as other:
        fcntl.flock(other, fcntl.LOCK_EX)
        second = threading.Thread(target=fetch, args=(release("cache", str(bundle)), progress))
        second.start()
        assert waiting.wait(5)
        assert cache.installed(release()) is None
    second.join(5)
    assert said[0] == "another run is fetching kafka_2.13-9.9.9: waiting"
    assert cache.installed(release())


def test_a_jar_with_a_wrong_hash_from_maven_is_refused(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    jars = (manifest.ReleaseJar("g:a:1", "0" * 64),)
    monkeypatch.setattr(manifest, "jars", lambda release: jars)
    script = tmp_path / "bin" / "mvn"
    script.parent.mkdir()
    script.write_text(
        "#!/bin/sh\nfor a; do case $a in -DoutputDirectory=*) libs=${a#*=};; esac; done\n"
        'mkdir "$libs"; echo x >"$libs/a-1.jar"\n'
    )
    script.chmod(0o755)
    monkeypatch.setenv("PATH", f"{script.parent}:/usr/bin:/bin")
    with pytest.raises(RefusedError, match=r"the hash of a-1.jar from Maven is wrong"):
        fetch(release("maven"), print)
