"""Deleting the data of a cluster on this machine, as far as it needs no processes."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from kcluster.operations import down


def test_the_record_goes_last_so_that_an_interrupted_deletion_can_go_on(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    root = tmp_path / "c"
    (root / "nodes/broker-1").mkdir(parents=True)
    (root / "record.json").touch()
    remove = shutil.rmtree

    def interrupted(path: Path) -> None:
        remove(path)
        raise KeyboardInterrupt

    with monkeypatch.context() as patch:
        patch.setattr(shutil, "rmtree", interrupted)
        with pytest.raises(KeyboardInterrupt):
            down._delete(root)
    assert [path.name for path in root.iterdir()] == ["record.json"]
    down._delete(root)
    assert not root.exists()
