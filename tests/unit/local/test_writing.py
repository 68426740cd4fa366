from __future__ import annotations

import os
from pathlib import Path

from kcluster import render
from kcluster.local import shape, writing
from kcluster.local.placing import Placement, choose_ports, place, wanted_ports
from kcluster.local.record import Origin


def prepared(root: Path):
    cluster = shape.cluster_of("c", Origin(brokers=1, keepers=1), "")
    placed = place(cluster, Placement(root, choose_ports(wanted_ports(cluster), {}, lambda port: True)))
    node = placed.brokers[0]
    return node, writing.placed_here(render.files(placed, node, reveal=True))


def test_files_for_systemd_are_not_written(tmp_path):
    node, files = prepared(tmp_path)
    writing.write(node, files)
    assert sorted(path.name for path in (tmp_path / "nodes/broker-1/etc").iterdir()) == [
        "kafka-log4j.properties",
        "kafka.env",
        "server.properties",
    ]


def test_a_file_has_the_mode_it_has_on_a_host(tmp_path):
    node, files = prepared(tmp_path)
    writing.write(node, files)
    config = Path(writing.config_file(files))
    assert config.stat().st_mode & 0o777 == 0o640


def test_a_file_that_is_the_same_is_not_written_again(tmp_path):
    node, files = prepared(tmp_path)
    writing.write(node, files)
    config = Path(writing.config_file(files))
    os.utime(config, (1, 1))
    writing.write(node, files)
    assert config.stat().st_mtime == 1
    config.write_text("changed by hand")
    writing.write(node, files)
    assert "broker.id=1" in config.read_text()


def test_the_environment_file_is_read_as_systemd_reads_it():
    text = '# a comment\nKAFKA_OPTS="-Da=\\"b c\\" -Dd=e"\nLOG_DIR="/var/log"\n'
    assert writing.declared(text) == {"KAFKA_OPTS": '-Da="b c" -Dd=e', "LOG_DIR": "/var/log"}


def test_a_process_gets_the_file_s_variables_and_none_of_the_caller_s_kafka_variables(tmp_path, monkeypatch):
    monkeypatch.setenv("JMX_PORT", "9999")
    monkeypatch.setenv("KAFKA_HEAP_OPTS", "-Xmx9g")
    monkeypatch.setenv("LANG", "C.UTF-8")
    _, files = prepared(tmp_path)
    environment = writing.surroundings(files, "-XX:TieredStopAtLevel=1")
    assert environment["KAFKA_HEAP_OPTS"] == "-Xms256m -Xmx256m"
    assert environment["LANG"] == "C.UTF-8"
    assert "JMX_PORT" not in environment
    assert environment["KAFKA_OPTS"].startswith("-XX:TieredStopAtLevel=1 ")
    tool = writing.for_tools(environment)
    assert "KAFKA_LOG4J_OPTS" not in tool


def test_another_text_or_another_release_has_another_digest(tmp_path):
    _, files = prepared(tmp_path)
    assert writing.digest(files, "/a") == writing.digest(files, "/a")
    assert len({writing.digest(files, "/a"), writing.digest(files, "/b"), writing.digest(files[1:], "/a")}) == 3
