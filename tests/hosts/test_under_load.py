"""What a load proves: not only that nothing is lost, but that the cluster went on serving."""

from __future__ import annotations

from dataclasses import replace

import pytest

from tests.hosts.load import longest_gap
from tests.hosts.under_load import Load

SERVED = Load("h1:9092", sent=600, numbers=frozenset(range(600)), gap=2.0)


def test_the_time_after_the_last_acknowledgement_is_a_gap() -> None:
    assert longest_gap([0, 1, 3], end=3.5) == 2
    assert longest_gap([0, 1, 3], end=63) == 60
    assert longest_gap([0], end=63) == 63


def test_a_cluster_that_took_everything_in_time_has_served() -> None:
    SERVED.assert_served()
    SERVED.assert_served(at_least=600, longest_gap=2.1)


@pytest.mark.parametrize(
    ("load", "why"),
    [
        (replace(SERVED, sent=601), "1 of 601 were not acknowledged"),
        (replace(SERVED, gap=60.0), "nothing was acknowledged for 60.0 s"),
        (replace(SERVED, lost=(7, 8)), r"2 acknowledged records are gone: \(7, 8\)"),
        (Load("h1:9092"), "0 records in all prove nothing"),
    ],
)
def test_a_cluster_that_stopped_or_lost_has_not(load: Load, why: str) -> None:
    with pytest.raises(AssertionError, match=why):
        load.assert_served()
