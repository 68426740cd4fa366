"""One helper locks files: it names the holder, and a disk that refuses is an error with a remedy."""

from __future__ import annotations

import errno
import os
from pathlib import Path

import pytest

from kcluster import file_lock
from kcluster.errors import ApplyError, KclusterError, LockedError


def refused(holder: str) -> KclusterError:
    return LockedError(f"locked by {holder or 'unknown'}")


def test_a_second_lock_is_refused_with_the_text_of_the_first_holder(tmp_path: Path) -> None:
    file = tmp_path / "cluster" / "lock"
    with file_lock.locked(file, "process 7", refused):
        with pytest.raises(LockedError, match="locked by process 7"), file_lock.locked(file, "other", refused):
            pass
        with file.open() as opened:
            assert file_lock.is_locked(opened.fileno())
    assert file.read_text() == ""
    with file.open() as opened:
        assert not file_lock.is_locked(opened.fileno())
    with file_lock.locked(file, "process 8", refused):
        assert file.read_text() == "process 8"


@pytest.mark.parametrize(("number", "remedy"), [(errno.ENOSPC, "df -h"), (errno.EROFS, "KCLUSTER_HOME")])
def test_a_disk_that_refuses_a_write_is_an_error_with_a_remedy(number: int, remedy: str, tmp_path: Path) -> None:
    with (
        pytest.raises(ApplyError, match=r"cannot be written: .*; nothing was changed") as failed,
        file_lock.writable(tmp_path, "; nothing was changed"),
    ):
        raise OSError(number, os.strerror(number))
    assert remedy in failed.value.resolution


def test_other_errors_of_the_system_are_not_changed(tmp_path: Path) -> None:
    with pytest.raises(ProcessLookupError), file_lock.writable(tmp_path):
        raise ProcessLookupError(errno.ESRCH, "no such process")
