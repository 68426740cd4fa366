"""Downloads go on where they stopped."""

from __future__ import annotations

import os
from collections.abc import Iterator
from pathlib import Path
from urllib.request import urlopen

import pytest

from kcluster.clients import downloads
from kcluster.clients.downloads import download, text
from kcluster.errors import UnreachableError
from tests.web import Web, serving

CONTENT = os.urandom(700_000)


@pytest.fixture
def web() -> Iterator[Web]:
    with serving() as web:
        web.files["/file"] = CONTENT
        yield web


@pytest.fixture
def part(tmp_path: Path) -> Path:
    return tmp_path / "file.part"


def silent(_done: int, _total: int | None, _unit: str) -> None:
    """Nobody watches."""


def test_a_file_arrives_whole_and_the_meter_tells_how_far_it_is(web: Web, part: Path) -> None:
    told: list[tuple[int, int | None, str]] = []
    download(f"{web.url}/file", part, lambda *how_far: told.append(how_far))
    assert part.read_bytes() == CONTENT
    assert told[-1] == (700_000, 700_000, "B")
    assert len(told) > 1


def test_what_an_earlier_run_left_is_not_asked_for_again(web: Web, part: Path) -> None:
    part.write_bytes(CONTENT[:500_000])
    download(f"{web.url}/file", part, silent)
    assert part.read_bytes() == CONTENT
    assert web.asked == [("/file", "bytes=500000-")]


def test_a_connection_that_breaks_is_continued_in_the_same_run(web: Web, part: Path) -> None:
    web.cut_after = [300_000, 300_000]
    download(f"{web.url}/file", part, silent)
    assert part.read_bytes() == CONTENT
    assert [asked for _, asked in web.asked] == ["", "bytes=300000-", "bytes=600000-"]


def test_a_connection_that_brings_nothing_more_is_given_up_and_the_part_is_kept(web: Web, part: Path) -> None:
    web.cut_after = [300_000, 0]
    with pytest.raises(UnreachableError, match="the connection ended after 300000 of 700000 bytes"):
        download(f"{web.url}/file", part, silent)
    assert part.read_bytes() == CONTENT[:300_000]


def test_a_server_without_ranges_sends_everything_again(web: Web, part: Path) -> None:
    web.ranges = False
    part.write_bytes(b"x" * 500_000)
    download(f"{web.url}/file", part, silent)
    assert part.read_bytes() == CONTENT


def test_a_part_that_is_whole_already_stays_as_it_is(web: Web, part: Path) -> None:
    part.write_bytes(CONTENT)
    download(f"{web.url}/file", part, silent)
    assert part.read_bytes() == CONTENT


def test_a_file_that_is_not_there_is_named_with_the_servers_answer(web: Web, part: Path) -> None:
    with pytest.raises(UnreachableError, match=r"/none answered 404 Not Found"):
        download(f"{web.url}/none", part, silent)
    assert text(f"{web.url}/none") is None


def test_a_refused_connection_says_so(part: Path) -> None:
    with pytest.raises(UnreachableError, match=r"http://127.0.0.1:1/file cannot be reached: Connection refused"):
        download("http://127.0.0.1:1/file", part, silent)
    with pytest.raises(UnreachableError, match="Connection refused"):
        text("http://127.0.0.1:1/file")


def test_a_text_that_https_passes_on_to_http_is_not_believed(web: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    web.files["/hash"] = b"abc\n"
    monkeypatch.setattr(downloads, "urlopen", lambda request, timeout: urlopen(f"{web.url}/hash", timeout=timeout))
    assert text("http://mirror/hash") == "abc\n"
    with pytest.raises(UnreachableError, match=f"https://mirror/hash cannot be reached: it leads to {web.url}/hash"):
        text("https://mirror/hash")


def test_a_small_text_is_read(web: Web) -> None:
    web.files["/hash"] = b"abc\n"
    assert text(f"{web.url}/hash") == "abc\n"
