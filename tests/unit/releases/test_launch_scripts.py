"""The scripts and logging files of a release that was put together from Maven."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from kcluster.model.release import Release
from kcluster.releases import launch_scripts
from tests.children import child

KNOWN = [
    "kafka-server-start.sh",
    "kafka-storage.sh",
    "kafka-topics.sh",
    "kafka-configs.sh",
    "kafka-acls.sh",
    "kafka-broker-api-versions.sh",
    "kafka-console-producer.sh",
    "kafka-console-consumer.sh",
    "kafka-verifiable-producer.sh",
    "kafka-verifiable-consumer.sh",
    "kafka-reassign-partitions.sh",
    "kafka-leader-election.sh",
    "kafka-log-dirs.sh",
    "kafka-get-offsets.sh",
    "kafka-features.sh",
    "kafka-cluster.sh",
    "kafka-metadata-quorum.sh",
    "kafka-metadata-shell.sh",
    "kafka-dump-log.sh",
    "kafka-jmx.sh",
    "kafka-consumer-groups.sh",
    "kafka-replica-verification.sh",
    "connect-distributed.sh",
    "connect-standalone.sh",
    "connect-mirror-maker.sh",
    "trogdor.sh",
    "kafka-run-class.sh",
]
ZOOKEEPER = {"zookeeper-server-start.sh", "zookeeper-shell.sh", "zookeeper-security-migration.sh"}


@pytest.fixture(params=["3.9.2", "4.2.0"])
def home(request: pytest.FixtureRequest, tmp_path: Path) -> Path:
    return surrounded(request.param, tmp_path)


def surrounded(version: str, tmp_path: Path) -> Path:
    """A release with our scripts, a few jars, and a `java` that prints its arguments, one on each line."""
    launch_scripts.write(Release(version), tmp_path)
    (tmp_path / "libs").mkdir()
    for jar in ("b.jar", "B.jar", "a.jar", "connect-file-1.jar"):
        (tmp_path / "libs" / jar).touch()
    java = tmp_path / "jdk" / "bin" / "java"
    java.parent.mkdir(parents=True)
    java.write_text('#!/bin/sh\necho "pid=$$"\necho "JMX_PORT=$JMX_PORT"\nprintf "%s\\n" "$@"\n')
    java.chmod(0o755)
    return tmp_path


def run(home: Path, script: str, *arguments: str, **environment: str) -> list[str]:
    surroundings = {"PATH": os.environ["PATH"], "JAVA_HOME": str(home / "jdk"), **environment}
    done = subprocess.run([home / "bin" / script, *arguments], capture_output=True, text=True, env=surroundings)
    assert done.stderr == ""
    return done.stdout.splitlines()


def test_every_script_people_know_is_there(home: Path) -> None:
    present = {path.name for path in (home / "bin").iterdir()}
    assert set(KNOWN) <= present
    assert present & ZOOKEEPER == (ZOOKEEPER if (home / "config/log4j.properties").exists() else set())
    assert all(os.access(path, os.X_OK) for path in (home / "bin").iterdir())


def test_shellcheck_has_nothing_to_say(home: Path) -> None:
    shellcheck = Path(sys.executable).with_name("shellcheck")
    done = subprocess.run([shellcheck, *sorted((home / "bin").iterdir())], capture_output=True, text=True)
    assert done.stdout == ""


def test_the_class_path_is_sorted_and_the_same_as_ours(home: Path) -> None:
    lines = run(home, "kafka-topics.sh", LC_ALL="C.UTF-8")
    expected = ":".join(f"{home}/libs/{jar}" for jar in ("B.jar", "a.jar", "b.jar"))
    assert lines[lines.index("-cp") + 1] == expected == launch_scripts.classpath(home)


def test_a_class_path_of_the_users_own_comes_first(home: Path) -> None:
    lines = run(home, "kafka-topics.sh", CLASSPATH="/own.jar")
    assert lines[lines.index("-cp") + 1].startswith("/own.jar:")


def test_a_tool_is_small_logs_warnings_only_and_opens_no_jmx_port(home: Path) -> None:
    lines = run(home, "kafka-topics.sh", "--list", "two words", JMX_PORT="9999")
    assert "-Xmx256M" in lines
    assert any("tools-log4j" in line for line in lines)
    assert "JMX_PORT=" in lines
    assert not [line for line in lines if "9999" in line]
    assert lines[-3:] == ["org.apache.kafka.tools.TopicCommand", "--list", "two words"]
    assert not (home / "logs").exists()


def test_a_server_honours_the_variables_people_know(home: Path) -> None:
    lines = run(
        home,
        "kafka-server-start.sh",
        "server.properties",
        KAFKA_HEAP_OPTS="-Xmx3g -Xms3g",
        KAFKA_OPTS="-Da=1 -Db=2",
        KAFKA_LOG4J_OPTS="-Dlog4j.configuration=file:/own",
        KAFKA_JVM_PERFORMANCE_OPTS="-XX:+UseSerialGC",
        KAFKA_GC_LOG_OPTS="-Xlog:gc",
        JMX_PORT="9999",
        LOG_DIR=str(home / "own-logs"),
    )
    wanted = ["-Xmx3g", "-Xms3g", "-Da=1", "-Db=2", "-Dlog4j.configuration=file:/own", "-XX:+UseSerialGC", "-Xlog:gc"]
    wanted += [f"-Dkafka.logs.dir={home}/own-logs", "-Dcom.sun.management.jmxremote.port=9999"]
    assert [one for one in wanted if one not in lines] == []
    assert "-XX:+UseG1GC" not in lines
    assert lines[-2:] == ["kafka.Kafka", "server.properties"]


def test_a_server_has_a_gigabyte_a_gc_log_and_a_log_unless_told_otherwise(home: Path) -> None:
    lines = run(home, "kafka-server-start.sh", "server.properties")
    assert {"-Xmx1G", "-Xms1G", "-XX:+UseG1GC"} <= set(lines)
    assert f"-Xlog:gc*:file={home}/logs/kafkaServer-gc.log:time,tags:filecount=10,filesize=100M" in lines
    assert [line for line in lines if "log4j" in line and "/config/log4j" in line and "tools" not in line]


def test_the_zookeeper_shell_takes_the_server_as_its_first_word(tmp_path: Path) -> None:
    home = surrounded("3.9.2", tmp_path)
    assert run(home, "zookeeper-shell.sh", "host:2181", "ls", "/")[-4:] == ["-server", "host:2181", "ls", "/"]


def test_extra_args_replace_the_gc_log(home: Path) -> None:
    lines = run(home, "kafka-server-start.sh", "server.properties", EXTRA_ARGS="-name mine")
    assert not [line for line in lines if line.startswith("-Xlog:gc")]
    assert lines[-2:] == ["kafka.Kafka", "server.properties"]


def test_the_process_that_was_started_becomes_java(home: Path) -> None:
    command = [home / "bin/kafka-server-start.sh", "server.properties"]
    surroundings = {"PATH": os.environ["PATH"], "JAVA_HOME": str(home / "jdk")}
    with child(command, stdout=subprocess.PIPE, text=True, env=surroundings) as started:
        out, _ = started.communicate()
    assert f"pid={started.pid}" in out.splitlines()


def test_a_daemon_writes_its_output_into_the_log_folder(home: Path) -> None:
    assert run(home, "kafka-server-start.sh", "-daemon", "server.properties") == []
    out = home / "logs" / "kafkaServer.out"
    assert wait_for(out, "server.properties")


def test_a_link_to_a_script_works_as_the_script(home: Path, tmp_path: Path) -> None:
    (tmp_path / "bin" / "link").symlink_to(tmp_path / "bin" / "kafka-topics.sh")
    assert run(home, "link")[-1] == "org.apache.kafka.tools.TopicCommand"


@pytest.mark.parametrize("script", ["kafka-server-start.sh", "kafka-run-class.sh", "trogdor.sh"])
def test_a_script_without_its_arguments_says_how_it_is_used(home: Path, script: str) -> None:
    done = subprocess.run([home / "bin" / script], capture_output=True, text=True)
    assert done.returncode == 1
    assert done.stderr.startswith(f"usage: {script}")


def test_without_java_the_scripts_say_so(home: Path) -> None:
    done = subprocess.run(
        [home / "bin/kafka-topics.sh"],
        capture_output=True,
        text=True,
        env={"PATH": os.environ["PATH"], "JAVA_HOME": "/nowhere"},
    )
    assert (done.returncode, done.stderr) == (
        1,
        "error: no Java at '/nowhere/bin/java'; install a JRE or set JAVA_HOME\n",
    )


def wait_for(path: Path, text: str) -> bool:
    import time

    deadline = time.monotonic() + 5
    while time.monotonic() < deadline:
        if path.exists() and text in path.read_text():
            return True
    return False
