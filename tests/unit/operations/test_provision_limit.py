"""The hosts that --limit means."""

from __future__ import annotations

import pytest

from kcluster.errors import UsageError
from kcluster.operations.provision import known_hosts
from tests.unit.fake_hosts import TRIO


def test_a_limit_is_one_host_or_several_and_all_are_known() -> None:
    assert known_hosts(TRIO, ()) == ()
    assert known_hosts(TRIO, ["h1,h2", "h3"]) == ("h1", "h2", "h3")
    with pytest.raises(UsageError, match="there is no such host in trio"):
        known_hosts(TRIO, ["h9"])


@pytest.mark.parametrize("words", [[""], [","], ["h1", ""]])
def test_a_limit_that_names_nobody_does_not_mean_everybody(words: list[str]) -> None:
    with pytest.raises(UsageError, match="--limit names no host"):
        known_hosts(TRIO, words)
