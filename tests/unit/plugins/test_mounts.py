"""Which mount a path lies on."""

from __future__ import annotations

from pathlib import Path

import pytest

from kcluster.clients import host_scripts

mounts = host_scripts.load("mounts")


@pytest.mark.parametrize(
    ("path", "expected"),
    [
        ("/data/kafka", ("/data", "xfs")),
        ("/database", ("/", "ext4")),
        ("/my disk/x", ("/my disk", "ext4")),
        ("/data/over", ("/data/over", "tmpfs")),
    ],
)
def test_the_mount_of_a_path_is_the_longest_and_of_several_the_last(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, path: str, expected: tuple[str, str]
) -> None:
    monkeypatch.setattr(mounts, "ROOT", str(tmp_path))
    (tmp_path / "proc/self").mkdir(parents=True)
    mountinfo = "\n".join(
        [
            "1 0 8:1 / / rw - ext4 /dev/sda1 rw",
            "2 1 8:2 / /data rw shared:1 - xfs /dev/sdb rw",
            "3 1 8:3 / /my\\040disk rw - ext4 /dev/sdc rw",
            "4 2 8:4 / /data/over rw - ext4 /dev/sdd rw",
            "5 4 0:5 / /data/over rw - tmpfs tmpfs rw",
        ]
    )
    (tmp_path / "proc/self/mountinfo").write_text(mountinfo)
    assert mounts.mount_of(path) == expected
