from __future__ import annotations

import os

import pytest

from kcluster.errors import LockedError
from kcluster.local.lock import locked


def test_the_second_one_is_told_who_holds_the_lock(tmp_path):
    second = locked(tmp_path, "c")
    with locked(tmp_path, "c"), pytest.raises(LockedError, match=rf"cluster c \(pid {os.getpid()}\)"):
        second.__enter__()


def test_the_lock_is_free_again_afterwards(tmp_path):
    for _ in range(2):
        with locked(tmp_path, "c"):
            assert (tmp_path / "lock").read_text() == str(os.getpid())
