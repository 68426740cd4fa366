"""The packaged lists of jars and hashes."""

from __future__ import annotations

import re

import pytest

from kcluster.model.release import Release
from kcluster.releases import manifest


def test_four_releases_can_be_assembled_from_maven() -> None:
    assert manifest.versions() == ("3.9.1", "3.9.2", "4.1.1", "4.2.0")


@pytest.mark.parametrize(("version", "count"), [("3.9.1", 116), ("3.9.2", 116), ("4.1.1", 105), ("4.2.0", 105)])
def test_every_jar_has_a_name_of_its_own_and_a_hash(version: str, count: int) -> None:
    jars = manifest.jars(Release(version))
    assert len({jar.file for jar in jars}) == len(jars) == count
    assert all(re.fullmatch(r"[0-9a-f]{64}", jar.sha256) for jar in jars)


def test_optional_jars_are_not_asked_for() -> None:
    assert not [jar for jar in manifest.jars(Release("3.9.2")) if "trogdor" in jar.file]


def test_a_version_without_a_manifest_has_no_jars() -> None:
    assert manifest.jars(Release("4.0.1")) == ()
    assert manifest.jars(Release("3.9.2", scala="2.12")) == ()


def test_pinned_hashes_are_sha512() -> None:
    assert all(re.fullmatch(r"[0-9a-f]{128}", pin) for pin in manifest.pins().values())
    assert {"3.9.1", "4.1.1"} <= set(manifest.pins())
