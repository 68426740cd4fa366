"""The files of a node: their places, their modes, and what they hide."""

from __future__ import annotations

from dataclasses import replace

import yaml

from kcluster import render
from kcluster.model.broker import Broker
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Ensemble, Server
from kcluster.model.host import Host
from kcluster.model.listener import Listener
from kcluster.model.node import Layer, Places
from kcluster.model.quorum import Controller, Quorum
from kcluster.model.release import Release
from kcluster.render import Role

SERVER = Server(host=Host("z1", "z1"), id=7, data_dir="/data/zk", log_dir="/log/zk")
BROKER = Broker(
    host=Host("b1", "b1"),
    id=1,
    listeners=(Listener(name="internal", port=9092, advertised_host="b1", advertised_port=9092),),
)
OLD = Cluster("demo", Release("3.9.2"), Ensemble((SERVER,)), (BROKER,))
NEW = Cluster("demo", Release("4.2.0"), Quorum((Controller(host=Host("c1", "c1"), id=3001),), "id"), (BROKER,))


def by_role(files: tuple[render.RenderedFile, ...]) -> dict[Role, render.RenderedFile]:
    return {file.role: file for file in files}


def paths(cluster: Cluster, index: int) -> dict[Role, str]:
    return {role: file.path for role, file in by_role(render.files(cluster, cluster.nodes[index])).items()}


def test_each_kind_has_its_own_file_names_so_that_a_host_can_run_several() -> None:
    assert paths(OLD, 0) == {
        Role.CONFIG: "/etc/kafka/zookeeper.properties",
        Role.MYID: "/data/zk/myid",
        Role.LOGGING: "/etc/kafka/zookeeper-log4j.properties",
        Role.ENVIRONMENT: "/etc/kafka/zookeeper.env",
        Role.UNIT: "/etc/systemd/system/zookeeper.service",
        Role.SCRIPT: "/opt/kafka/start-node.sh",
    }
    assert paths(OLD, 1)[Role.LOGGING] == "/etc/kafka/kafka-log4j.properties"
    assert paths(NEW, 0) == {
        Role.CONFIG: "/etc/kafka/controller.properties",
        Role.LOGGING: "/etc/kafka/kafka-controller-log4j2.yaml",
        Role.ENVIRONMENT: "/etc/kafka/kafka-controller.env",
        Role.UNIT: "/etc/systemd/system/kafka-controller.service",
        Role.SCRIPT: "/opt/kafka/start-node.sh",
    }
    assert paths(NEW, 1)[Role.LOGGING] == "/etc/kafka/kafka-log4j2.yaml"


def test_myid_holds_the_id_and_nothing_else() -> None:
    assert by_role(render.files(OLD, SERVER))[Role.MYID].text == "7\n"


def test_places_move_every_file_and_every_path_in_them() -> None:
    moved = replace(BROKER, places=Places("u", "g", "/i", "/c", "/l"), data_dirs=("/home/kafka/data",))
    files = by_role(render.files(replace(OLD, brokers=(moved,)), moved))
    unit = files[Role.UNIT].text
    assert files[Role.CONFIG].path == "/c/server.properties"
    assert (
        "ExecStart=/i/start-node.sh kafka /i/current-kafka/bin/kafka-server-start.sh \\\n  /c/server.properties "
        in unit
    )
    assert "User=u\nGroup=g\n" in unit
    assert "EnvironmentFile=/c/kafka.env\n" in unit
    assert files[Role.SCRIPT].path == "/i/start-node.sh"
    assert "ReadWritePaths=/home/kafka/data\nReadWritePaths=/l\n" in unit
    assert "ProtectHome=read-only\n" in unit  # with `true` the data would be out of sight
    assert "/etc/kafka" not in unit + files[Role.ENVIRONMENT].text + files[Role.LOGGING].text


def test_a_secret_is_hidden_and_its_file_marked_unless_it_is_asked_for() -> None:
    layers = (Layer("cluster", {"ssl.key.password": "geheim"}),)
    holder = replace(BROKER, layers=layers, environment={"KAFKA_OPTS": "-Dpassword=geheim"})
    cluster = replace(OLD, brokers=(holder,))
    shown, revealed = render.files(cluster, holder), render.files(cluster, holder, reveal=True)
    assert not any("geheim" in file.text for file in shown)
    assert {file.role for file in shown if file.secret} == {Role.CONFIG, Role.ENVIRONMENT}
    assert {file.role for file in revealed if "geheim" in file.text} == {Role.CONFIG, Role.ENVIRONMENT}


def test_the_options_of_people_come_after_ours_and_all_else_they_set_wins() -> None:
    holder = replace(BROKER, environment={"KAFKA_OPTS": "-Da=b", "KAFKA_HEAP_OPTS": "-Xmx9g"})
    text = by_role(render.files(replace(OLD, brokers=(holder,)), holder))[Role.ENVIRONMENT].text
    assert 'KAFKA_OPTS="-XX:+ExitOnOutOfMemoryError -Da=b"\n' in text
    assert 'KAFKA_HEAP_OPTS="-Xmx9g"\n' in text
    assert text.count("KAFKA_HEAP_OPTS") == 1


def test_every_log_file_is_bounded_and_every_logger_writes_to_one_of_them() -> None:
    logging = yaml.safe_load(by_role(render.files(NEW, BROKER))[Role.LOGGING].text)["Configuration"]
    files = logging["Appenders"]["RollingFile"]
    assert set(logging["Appenders"]) == {"RollingFile"}
    assert all(file["SizeBasedTriggeringPolicy"]["size"] and file["DefaultRolloverStrategy"]["max"] for file in files)
    targets = {ref["ref"] for logger in logging["Loggers"]["Logger"] for ref in logger["AppenderRef"]}
    assert targets <= {file["name"] for file in files}
