from __future__ import annotations

import os
from pathlib import Path

from kcluster.clients.java import Java
from kcluster.clients.processes import Process
from kcluster.local import class_archives
from kcluster.local.class_archives import Archives
from kcluster.model.node import Kind


def beside(release: Path) -> Archives:
    (release / "libs").mkdir()
    return Archives.of(release, Java(Path("/jvm"), "17.0.15+6-Debian"))


def test_an_archive_gets_its_name_when_it_is_complete(tmp_path):
    found = beside(tmp_path)
    assert not found.usable(Kind.BROKER, tmp_path / "libs")
    making = found.making(Kind.BROKER)
    making.write_bytes(b"classes")
    class_archives.complete(making)
    assert found.archive(Kind.BROKER) == tmp_path / "cds/17.0.15+6-Debian/broker.jsa"
    assert found.usable(Kind.BROKER, tmp_path / "libs")


def test_a_node_that_was_killed_has_written_none(tmp_path):
    found = beside(tmp_path)
    class_archives.complete(found.making(Kind.BROKER))
    assert not found.archive(Kind.BROKER).exists()


def test_an_archive_older_than_the_jars_is_made_again(tmp_path):
    found = beside(tmp_path)
    found.making(Kind.BROKER).with_name("broker.jsa").touch()
    os.utime(found.archive(Kind.BROKER), (1, 1))
    assert not found.usable(Kind.BROKER, tmp_path / "libs")


def test_an_archive_that_no_jvm_takes_is_removed(tmp_path):
    found = beside(tmp_path)
    found.making(Kind.BROKER).with_name("broker.jsa").touch()
    found.drop_if_unused(Kind.BROKER, Process(os.getpid(), 0))
    assert not found.archive(Kind.BROKER).exists()
