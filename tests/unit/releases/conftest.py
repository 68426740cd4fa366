"""A small release to fetch, a server to fetch it from, and a cache of the test's own."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import pytest

from kcluster.releases import archive
from tests.web import Web, serving


@pytest.fixture(autouse=True)
def releases(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """The folder of all releases, empty."""
    monkeypatch.setenv("KCLUSTER_CACHE", str(tmp_path / "cache"))
    return tmp_path / "cache" / "releases"


@pytest.fixture
def web() -> Iterator[Web]:
    with serving() as web:
        yield web


@pytest.fixture
def bundle(tmp_path: Path) -> Path:
    """An archive of version 9.9.9 with three small files, and its hash beside it."""
    home = tmp_path / "made"
    for name, text in {
        "bin/run.sh": "#!/bin/sh\n",
        "config/a.properties": "a=1\n",
        "libs/a-1.jar": "jar" * 50000,
    }.items():
        (home / name).parent.mkdir(parents=True, exist_ok=True)
        (home / name).write_text(text)
    (home / "bin/run.sh").chmod(0o755)
    file = tmp_path / "kafka_2.13-9.9.9.tgz"
    archive.pack(home, ["bin/run.sh", "config/a.properties", "libs/a-1.jar"], file, "kafka_2.13-9.9.9")
    file.with_name(file.name + ".sha512").write_text(f"{archive.sha512(file)}  {file.name}\n")
    return file
