"""No directory of the system may be a node's."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kcluster.rules import directories
from tests.unit.rules.sound_cluster import cluster


@pytest.mark.parametrize(
    ("path", "fine"),
    [
        *((path, False) for path in ("/", "//", "/var", "/var/log/.", "/usr/lib64/kafka", "/bin/x", "/dev/shm/logs")),
        *((path, True) for path in ("/var/log/kafka", "/library", "/usr/local/kafka", "/mnt", "/home/kafka", "/devs")),
    ],
)
def test_no_system_directory_belongs_to_a_node(path: str, fine: bool) -> None:
    sound = cluster(brokers=1)
    broker = replace(sound.brokers[0], places=replace(sound.brokers[0].places, log_dir=path))
    assert bool(list(directories.no_system_directories(replace(sound, brokers=(broker,))))) is not fine
