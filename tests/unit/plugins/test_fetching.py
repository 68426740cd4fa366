"""What the kernel knows about the connections of a broker."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

SHOWN = """\
0      0      10.77.0.13:41234  10.77.0.11:9092  users:(("java",pid=42,fd=12))
\t cubic wscale:7,7 rto:204 lastsnd:212 lastrcv:9212 lastack:204 pacing_rate 1bps
0      0      10.77.0.13:41236  10.77.0.11:9092  users:(("java",pid=42,fd=13))
\t cubic lastsnd:212 lastrcv:320 lastack:204
0      0      [::ffff:10.77.0.13]:41238  [::ffff:10.77.0.12]:9092  users:(("java",pid=42,fd=14)) cubic lastrcv:7000
0      0      10.77.0.13:41240  10.77.0.14:9092  users:(("java",pid=421,fd=14))
\t cubic lastrcv:1
"""


def test_the_newest_of_all_connections_of_the_broker_itself_counts(plugin: Callable[[str], ModuleType]) -> None:
    fetching = plugin("module_utils.fetching")
    sockets = fetching.received(SHOWN, "42")
    assert fetching.latest(sockets, "10.77.0.11", 9092) == 320
    assert fetching.latest(sockets, "10.77.0.12", 9092) == 7000
    assert fetching.latest(sockets, "10.77.0.14", 9092) is None


def test_a_connection_that_received_something_in_this_very_moment_has_no_lastrcv(
    plugin: Callable[[str], ModuleType],
) -> None:
    """`ss` leaves out a time of 0 ms, which is the usual one of a follower under load."""
    busy = SHOWN.replace("lastsnd:212 lastrcv:320 lastack:204", "rto:204 cwnd:10 lastsnd:4")
    sockets = plugin("module_utils.fetching").received(busy, "42")
    assert sockets == {"10.77.0.11:9092": 0, "[::ffff:10.77.0.12]:9092": 7000}
