"""How far a broker has come with loading its logs, by its own log."""

from __future__ import annotations

from collections.abc import Callable
from types import ModuleType

BEFORE = "INFO Completed load of Log(dir=/data/a/x-0) in 3ms (12/12 completed in /data/a) (kafka.log.LogManager)\n"
BEGIN = "INFO Loading logs from log dirs ArraySeq(/data/a, /data/b) (kafka.log.LogManager)\n"
ONE = "INFO Completed load of Log(dir=/data/a/x-0) in 3ms (1/12 completed in /data/a) (kafka.log.LogManager)\n"
TWO = "INFO Completed load of Log(dir=/data/a/x-1) in 3ms (2/12 completed in /data/a) (kafka.log.LogManager)\n"
OTHER = "INFO Completed load of Log(dir=/data/b/y-1) in 3ms (1/3 completed in /data/b) (kafka.log.LogManager)\n"
SEGMENT = (
    "INFO [LogLoader partition=x-2] Recovering unflushed segment 812. 3/40 recovered for x-2. (kafka.log.LogLoader)\n"
)


def test_the_newest_count_of_each_directory_since_this_start(plugin: Callable[[str], ModuleType]) -> None:
    loading = plugin("module_utils.recovery").loading
    assert loading(BEFORE + BEGIN) == ""
    assert loading(BEFORE + BEGIN + ONE + OTHER + TWO) == (
        "2 of 12 partitions of /data/a are loaded, 1 of 3 partitions of /data/b are loaded"
    )
    assert loading(TWO + SEGMENT).endswith("3 of 40 segments of x-2 are recovered"), "the beginning is long ago"


def test_what_it_has_read_shows_that_it_gets_on_without_a_line(plugin: Callable[[str], ModuleType]) -> None:
    recovery = plugin("module_utils.recovery")
    assert recovery.read_megabytes("rchar: 7340032\nwchar: 1\n") == 7
    assert recovery.read_megabytes("") == 0
    assert recovery.recovery(1, "/nowhere/server.log")["text"] == ""
