"""Where things are."""

from __future__ import annotations

from pathlib import Path

import pytest

from kcluster import paths


def test_the_project_is_the_checkout_when_it_is_not_installed(project: Path) -> None:
    assert paths.project() == project
    assert (paths.project() / "templates").is_dir()


def test_own_variables_win_over_xdg_and_xdg_over_the_home(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("HOME", "/people/ann")
    monkeypatch.delenv("KCLUSTER_HOME", raising=False)
    monkeypatch.delenv("XDG_DATA_HOME", raising=False)
    assert paths.home() == Path("/people/ann/.local/share/kcluster")
    monkeypatch.setenv("XDG_DATA_HOME", "/data")
    assert paths.home() == Path("/data/kcluster")
    monkeypatch.setenv("KCLUSTER_HOME", "/own")
    assert paths.home() == Path("/own")


def test_the_cache_is_apart_from_what_cannot_be_made_again(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCLUSTER_CACHE", "/fast")
    assert paths.cache() == Path("/fast")
