"""A starter inventory validates at once, and wrong numbers are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from kcluster import inventory
from kcluster.errors import RefusedError, UsageError
from kcluster.model import quorum
from kcluster.operations.init import InitRequest, init, plan
from kcluster.operations.validate import validate


@pytest.mark.parametrize(
    "wish",
    [
        InitRequest(),
        InitRequest(brokers=1, zookeepers=1),
        InitRequest(brokers=2, kraft=True, controllers=1),
        InitRequest(hosts=("a", "b", "c")),
        InitRequest(brokers=4, kraft=True, hosts=tuple("abcdefg"), name="demo"),
    ],
    ids=lambda wish: f"{wish.brokers}-{'kraft' if wish.kraft else 'zookeeper'}-{len(wish.hosts)}-hosts",
)
def test_a_starter_inventory_validates_at_once(tmp_path: Path, wish: InitRequest) -> None:
    init(tmp_path / "starter", wish)
    found = validate(tmp_path / "starter", strict=True)
    assert (found.findings, found.exit_code) == ((), 0)


def test_hosts_are_shared_or_kept_apart_by_their_number() -> None:
    shared = plan(InitRequest(hosts=("a", "b", "c")), "demo")
    assert (shared.zookeepers, shared.brokers) == (["a", "b", "c"], ["a", "b", "c"])
    apart = plan(InitRequest(hosts=("a", "b", "c", "d"), zookeepers=1), "demo")
    assert (apart.zookeepers, apart.brokers) == (["a"], ["b", "c", "d"])


@pytest.mark.parametrize(("name", "wish"), [("local", InitRequest()), ("local-kraft", InitRequest(kraft=True))])
def test_the_inventories_of_the_project_are_what_init_writes(
    tmp_path: Path, project: Path, monkeypatch: pytest.MonkeyPatch, name: str, wish: InitRequest
) -> None:
    stored = project / "inventories" / name
    metadata = inventory.read(stored).metadata
    monkeypatch.setattr(quorum, "new_cluster_id", lambda: getattr(metadata, "cluster_id", ""))
    init(tmp_path / name, wish)
    assert _texts(tmp_path / name) == _texts(stored)


@pytest.mark.parametrize(
    ("wish", "told"),
    [
        (InitRequest(zookeepers=2), "--zookeepers must be odd: 1, 3 or 5"),
        (InitRequest(kraft=True, controllers=0), "--controllers must be odd: 1, 3 or 5"),
        (InitRequest(kraft=True, zookeepers=3), "--zookeepers cannot be used with --kraft"),
        (InitRequest(controllers=3), "--controllers needs --kraft"),
        (InitRequest(brokers=0), "--brokers 0 is out of range"),
        (InitRequest(hosts=("a", "b")), "--hosts names 2 hosts; 3 ZooKeeper servers and 3 brokers need 3 or 6"),
        (InitRequest(hosts=("a", "b", "a")), "--hosts names a 2 times"),
        (InitRequest(hosts=("a", "b", "c d")), "'c d' is not a host"),
        (InitRequest(name="a b"), "'a b' is not a valid cluster name"),
    ],
)
def test_wrong_options_are_refused(wish: InitRequest, told: str) -> None:
    with pytest.raises(UsageError, match=told) as caught:
        plan(wish, "demo")
    assert caught.value.resolution


def test_nothing_is_overwritten(tmp_path: Path) -> None:
    (tmp_path / "kept").write_text("mine")
    with pytest.raises(RefusedError, match="is not empty"):
        init(tmp_path, InitRequest())
    with pytest.raises(RefusedError, match="is a file"):
        init(tmp_path / "kept", InitRequest())
    assert (tmp_path / "kept").read_text() == "mine"


def test_a_place_where_nothing_can_be_written_is_told(tmp_path: Path) -> None:
    (tmp_path / "file").write_text("")
    with pytest.raises(RefusedError, match=r"cannot write .*Not a directory"):
        init(tmp_path / "file" / "below", InitRequest())


def _texts(folder: Path) -> dict[str, str]:
    return {str(path.relative_to(folder)): path.read_text() for path in folder.rglob("*") if path.is_file()}
