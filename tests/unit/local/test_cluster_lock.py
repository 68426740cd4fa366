from __future__ import annotations

import errno
import os

import pytest

from kcluster.errors import ApplyError, LockedError
from kcluster.local.cluster_lock import locked


def test_the_second_one_is_told_who_holds_the_lock(tmp_path):
    second = locked(tmp_path, "c")
    with locked(tmp_path, "c"), pytest.raises(LockedError, match=rf"cluster c \(pid {os.getpid()}\)"):
        second.__enter__()


def test_the_lock_is_free_again_afterwards(tmp_path):
    for _ in range(2):
        with locked(tmp_path, "c"):
            assert (tmp_path / "lock").read_text() == str(os.getpid())


def test_a_folder_that_cannot_be_written_is_named(tmp_path):
    with (
        pytest.raises(ApplyError, match=r"record\.json cannot be written: No space left on device") as full,
        locked(tmp_path, "c"),
    ):
        raise OSError(errno.ENOSPC, "No space left on device", str(tmp_path / "record.json"))
    assert "make room" in full.value.resolution


def test_what_is_not_the_disk_s_fault_stays_a_bug(tmp_path):
    with pytest.raises(ConnectionResetError), locked(tmp_path, "c"):
        raise ConnectionResetError
