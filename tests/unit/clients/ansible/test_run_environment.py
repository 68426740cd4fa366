"""What Ansible runs in: a link tree that many may make at once, short socket paths, and people's own settings."""

from __future__ import annotations

from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from kcluster import paths
from kcluster.clients.ansible import run_environment
from kcluster.errors import UsageError


def test_the_project_is_a_collection_however_many_ask_at_once(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KCLUSTER_CACHE", str(tmp_path))
    with ThreadPoolExecutor(8) as pool:
        (tree,) = set(pool.map(lambda _: run_environment.collections(), range(40)))
    link = tree / "ansible_collections" / "kcluster" / "kafka"
    assert link.resolve() == paths.project().resolve()
    assert [path.name for path in link.parent.iterdir()] == ["kafka"]


def test_another_project_with_the_same_cache_has_a_tree_of_its_own(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("KCLUSTER_CACHE", str(tmp_path / "cache"))
    first = run_environment.collections()
    monkeypatch.setattr(paths, "project", lambda: tmp_path)
    assert run_environment.collections() != first


def test_sockets_are_ours_alone_short_and_apart_for_each_inventory(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    monkeypatch.setenv("XDG_RUNTIME_DIR", str(tmp_path))
    one, two = run_environment.sockets(Path("one")), run_environment.sockets(Path("two"))
    assert one != two
    assert one.stat().st_mode & 0o777 == 0o700
    assert len(one.name) <= 12
    (tmp_path / "kcluster").chmod(0o755)
    with pytest.raises(UsageError, match="must be your own folder"):
        run_environment.sockets(Path("one"))


def test_peoples_own_way_to_the_hosts_stays_and_what_must_hold_holds(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ANSIBLE_SSH_ARGS", "-o ProxyJump=door")
    monkeypatch.setenv("ANSIBLE_HOST_KEY_CHECKING", "false")
    monkeypatch.setenv("ANSIBLE_STDOUT_CALLBACK", "yaml")
    found = run_environment.environment(Path("demo"))
    assert found["ANSIBLE_SSH_ARGS"] == "-o ProxyJump=door"
    assert found["ANSIBLE_HOST_KEY_CHECKING"] == "true"
    assert found["ANSIBLE_STDOUT_CALLBACK"] == "kcluster.kafka.events"
    assert found["ANSIBLE_PIPELINING"] == "true"
    monkeypatch.delenv("ANSIBLE_SSH_ARGS")
    assert "-C" not in run_environment.environment(Path("demo"))["ANSIBLE_SSH_ARGS"].split()
