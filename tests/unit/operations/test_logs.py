from __future__ import annotations

import os
from contextlib import closing
from pathlib import Path
from types import SimpleNamespace

import pytest

from kcluster.errors import UsageError
from kcluster.local import topology
from kcluster.local.cluster_record import ClusterRecord, UpOrigin
from kcluster.local.layout import Placement, choose_ports, configured_ports, place
from kcluster.local.up_request import cluster_dir
from kcluster.operations.logs import logs
from kcluster.operations.logs.local_logs import FollowedLog


@pytest.fixture
def cluster(tmp_path: Path, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setenv("KCLUSTER_HOME", str(tmp_path))
    made = topology.cluster_of("c", UpOrigin(brokers=2, keepers=1), "")
    placed = place(made, Placement(cluster_dir("c"), choose_ports(configured_ports(made), {}, lambda port: True)))
    ClusterRecord(cluster_dir("c"), placed).save()
    return placed


def write(node, name: str, *lines: str) -> Path:
    folder = Path(node.places.log_dir)
    folder.mkdir(parents=True, exist_ok=True)
    file = folder / name
    file.write_text("".join(f"{line}\n" for line in lines))
    return file


def test_the_nodes_are_interleaved_by_time_and_a_stack_trace_stays_together(cluster):
    first, second = cluster.brokers
    write(first, "server.log", "[2026-01-01 00:00:01,000] one", "  at a", "[2026-01-01 00:00:03,000] three")
    write(second, "server.log", "[2026-01-01 00:00:02,000] two")
    found = logs("c", None, 10, follow=False)
    assert list(found.view()) == [
        "broker-1    | [2026-01-01 00:00:01,000] one",
        "broker-1    |   at a",
        "broker-2    | [2026-01-01 00:00:02,000] two",
        "broker-1    | [2026-01-01 00:00:03,000] three",
    ]


def test_one_node_has_no_prefix_and_may_be_named_by_its_host(cluster):
    write(cluster.brokers[0], "server.log", "a", "b")
    assert list(logs("c", "broker1", 1, follow=False).view()) == ["b"]


def test_a_node_without_a_log_shows_what_the_jvm_said(cluster):
    write(cluster.brokers[0], "console.log", "Error: Could not create the Java Virtual Machine.")
    assert "Java Virtual Machine" in next(iter(logs("c", "broker-1", 5, follow=False).view()))


def test_an_unknown_node_gets_the_nearest_names(cluster):
    with pytest.raises(UsageError, match="has no node or host brokr-2") as refused:
        logs("c", "brokr-2", 5, follow=False)
    assert refused.value.resolution.startswith("did you mean broker-2")


def test_following_sees_new_complete_lines_also_after_a_roll(cluster):
    node = cluster.brokers[0]
    file = write(node, "server.log", "old")
    with closing(FollowedLog(node, file.stat().st_size)) as followed:
        with file.open("a") as out:
            out.write("half")
        assert list(followed.new()) == []
        with file.open("a") as out:
            out.write(" and half\n")
        assert [line.text for line in followed.new()] == ["half and half"]
        file.rename(file.with_name("server.log.1"))
        write(node, "server.log", "after the roll")
        assert [line.text for line in followed.new()] == ["after the roll"]


def test_a_line_written_just_before_a_roll_is_not_lost(cluster):
    node = cluster.brokers[0]
    file = write(node, "server.log", "old")
    rolled = file.with_name("server.log.1")

    def rolled_meanwhile() -> os.stat_result:
        if not rolled.exists():
            with file.open("a") as out:
                out.write("at the last moment\n")
            file.rename(rolled)
            write(node, "server.log", "after the roll")
        return file.stat()

    with closing(FollowedLog(node, file.stat().st_size)) as followed:
        followed._path = SimpleNamespace(stat=rolled_meanwhile, open=file.open)
        assert [line.text for _ in range(2) for line in followed.new()] == ["at the last moment", "after the roll"]


def test_a_line_written_before_the_following_begins_is_neither_lost_nor_told_twice(cluster):
    file = write(cluster.brokers[0], "server.log", "old")
    told = logs("c", "broker-1", 5, follow=True)
    with file.open("a") as out:
        out.write("in between\n")
    lines = told.view()
    assert [next(iter(lines)), next(iter(lines))] == ["old", "in between"]


def test_a_log_that_is_not_there_yet_is_awaited(cluster):
    with closing(FollowedLog(cluster.brokers[0], 0)) as followed:
        assert list(followed.new()) == []
        write(cluster.brokers[0], "server.log", "first")
        assert [line.text for line in followed.new()] == ["first"]


def test_json_has_one_entry_for_each_line(cluster):
    write(cluster.brokers[0], "server.log", "a")
    assert logs("c", "broker-1", 5, follow=False).data() == [{"node": "broker-1", "text": "a"}]
