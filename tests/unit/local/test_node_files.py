from __future__ import annotations

import os
from pathlib import Path

from kcluster import render
from kcluster.local import node_files, topology
from kcluster.local.cluster_record import UpOrigin
from kcluster.local.layout import Placement, choose_ports, configured_ports, place


def prepared(root: Path):
    cluster = topology.cluster_of("c", UpOrigin(brokers=1, keepers=1), "")
    placed = place(cluster, Placement(root, choose_ports(configured_ports(cluster), {}, lambda port: True)))
    node = placed.brokers[0]
    return node, node_files.placed_here(render.files(placed, node, reveal=True))


def test_files_for_systemd_are_not_written(tmp_path):
    node, files = prepared(tmp_path)
    node_files.write(node, files)
    assert sorted(path.name for path in (tmp_path / "nodes/broker-1/etc").iterdir()) == [
        "kafka-log4j.properties",
        "kafka.env",
        "server.properties",
    ]


def test_a_file_has_the_mode_it_has_on_a_host(tmp_path):
    node, files = prepared(tmp_path)
    node_files.write(node, files)
    config = Path(node_files.config_file(files))
    assert config.stat().st_mode & 0o777 == 0o640


def test_a_file_that_is_the_same_is_not_written_again(tmp_path):
    node, files = prepared(tmp_path)
    node_files.write(node, files)
    config = Path(node_files.config_file(files))
    os.utime(config, (1, 1))
    node_files.write(node, files)
    assert config.stat().st_mtime == 1
    config.write_text("changed by hand")
    node_files.write(node, files)
    assert "broker.id=1" in config.read_text()


def test_the_environment_file_is_read_as_systemd_reads_it():
    text = '# a comment\nKAFKA_OPTS="-Da=\\"b c\\" -Dd=e"\nLOG_DIR="/var/log"\n'
    assert node_files.parse_environment(text) == {"KAFKA_OPTS": '-Da="b c" -Dd=e', "LOG_DIR": "/var/log"}


def test_a_process_gets_the_file_s_variables_and_none_of_the_caller_s_kafka_variables(tmp_path, monkeypatch):
    monkeypatch.setenv("JMX_PORT", "9999")
    monkeypatch.setenv("KAFKA_HEAP_OPTS", "-Xmx9g")
    monkeypatch.setenv("LANG", "C.UTF-8")
    _, files = prepared(tmp_path)
    environment = node_files.process_environment(files, "-XX:TieredStopAtLevel=1")
    assert environment["KAFKA_HEAP_OPTS"] == "-Xms256m -Xmx256m"
    assert environment["LANG"] == "C.UTF-8"
    assert "JMX_PORT" not in environment
    assert environment["KAFKA_OPTS"].startswith("-XX:TieredStopAtLevel=1 ")
    tool = node_files.for_tools(environment)
    assert "KAFKA_LOG4J_OPTS" not in tool


def test_another_text_or_another_release_has_another_digest(tmp_path):
    _, files = prepared(tmp_path)
    assert node_files.digest(files, "/a") == node_files.digest(files, "/a")
    assert (
        len({node_files.digest(files, "/a"), node_files.digest(files, "/b"), node_files.digest(files[1:], "/a")}) == 3
    )
