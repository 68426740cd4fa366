"""The borders of session timeouts and chroots."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kcluster.model.ensemble import Ensemble
from kcluster.rules import safety
from tests.unit.rules.sound_cluster import cluster


@pytest.mark.parametrize(("value", "fine"), [("1000", True), ("40000", True), ("999", False), ("40001", False)])
def test_sessions_last_from_2_ticks_to_40_seconds(value: str, fine: bool) -> None:
    assert (list(safety.session_timeout_within_limits(cluster(zookeeper_session_timeout_ms=value))) == []) is fine


@pytest.mark.parametrize(("chroot", "fine"), [("", True), ("/a/b", True), ("a", False), ("/a/", False), ("/", False)])
def test_a_chroot_is_one_path(chroot: str, fine: bool) -> None:
    sound = cluster()
    assert isinstance(sound.metadata, Ensemble)
    moved = replace(sound, metadata=replace(sound.metadata, chroot=chroot))
    assert (list(safety.valid_chroot(moved)) == []) is fine
