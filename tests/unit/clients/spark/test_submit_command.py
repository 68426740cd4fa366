from __future__ import annotations

import shlex
import subprocess
from pathlib import Path

import pytest

from kcluster.clients.spark import runtime, submit_command
from kcluster.errors import RefusedError, UnreachableError

HERE = runtime.SparkRuntime(Path("/opt/spark home"), Path("/opt/java"), Path("/opt/python"))


def test_the_line_can_be_pasted_also_with_spaces_in_paths() -> None:
    made = submit_command.spark_command(
        HERE, [Path("/c/a b.jar"), Path("/c/c.jar")], "local[*]", Path("/jobs/one"), "h:9092"
    )
    words = shlex.split(str(made))
    assert words[:5] == [
        "env",
        "SPARK_HOME=/opt/spark home",
        "JAVA_HOME=/opt/java",
        "PYSPARK_PYTHON=/opt/python",
        "SPARK_LOCAL_IP=127.0.0.1",
    ]
    assert words[5] == "/opt/spark home/bin/spark-submit"
    assert words[words.index("--jars") + 1] == "/c/a b.jar,/c/c.jar"
    assert words[-5:] == ["/jobs/one/job.json", "--bootstrap", "h:9092", "--folder", "/jobs/one"]


def test_on_other_machines_only_the_driver_uses_this_python_and_no_address_is_forced() -> None:
    made = submit_command.spark_command(HERE, [], "yarn", Path("/jobs/one"), "h:9092")
    assert made.environment == {
        "SPARK_HOME": "/opt/spark home",
        "JAVA_HOME": "/opt/java",
        "PYSPARK_DRIVER_PYTHON": "/opt/python",
    }
    assert made.command[made.command.index("--master") + 1] == "yarn"
    assert made.process == made.command


def test_for_a_master_of_spark_the_driver_says_the_address_that_leads_there_and_lets_its_group_write() -> None:
    made = submit_command.spark_command(HERE, [], "spark://127.0.0.9:7077,127.0.0.8:7077", Path("/jobs/one"), "h:9092")
    assert made.environment["SPARK_LOCAL_IP"] == made.environment["SPARK_LOCAL_HOSTNAME"] == "127.0.0.1"
    assert str(made).startswith("umask 002; env 'SPARK_HOME=/opt/spark home' ")
    shown = submit_command.SubmitCommand(["sh", "-c", "umask"], umask=made.umask)
    assert subprocess.check_output(shown.process, text=True) == "0002\n"
    assert subprocess.check_output(["sh", "-c", str(shown)], text=True) == "0002\n"
    with pytest.raises(UnreachableError, match=r"no route to the Spark master no\.such\.host:7077"):
        submit_command.spark_command(HERE, [], "spark://no.such.host:7077", Path("/jobs/one"), "h:9092")


def test_jars_that_the_hosts_have_are_given_to_the_driver_and_not_sent() -> None:
    jars = [Path("/c/a.jar"), Path("/c/b.jar")]
    made = submit_command.spark_command(HERE, [], "spark://127.0.0.1:7077", Path("/jobs/one"), "h:9092", on_hosts=jars)
    assert made.environment["SPARK_DIST_CLASSPATH"] == "/c/a.jar:/c/b.jar"
    assert "--jars" not in made.command
    more = submit_command.spark_command(
        HERE, [Path("/c/delta.jar")], "spark://127.0.0.1:7077", Path("/jobs/one"), "h:9092", on_hosts=jars
    )
    assert more.environment["SPARK_DIST_CLASSPATH"] == "/c/a.jar:/c/b.jar"
    assert more.command[more.command.index("--jars") + 1] == "/c/delta.jar"


def test_our_logging_stands_beside_the_users_own_options_of_the_jvm() -> None:
    told = submit_command.properties_file(
        None, {"spark.driver.extraJavaOptions": "-Xss4m", "spark.driver.memory": "2g"}
    )
    ours = f"-Dlog4j2.configurationFile={submit_command.LOGGING.as_uri()}"
    assert f"spark.driver.extraJavaOptions {ours} -XX:+UseParallelGC -Xss4m\n" in told
    assert "spark.driver.memory 2g\n" in told
    assert submit_command.LOGGING.is_file()
    own = submit_command.properties_file(None, {"spark.driver.extraJavaOptions": "-XX:+UseG1GC"})
    assert f"spark.driver.extraJavaOptions {ours} -XX:+UseG1GC\n" in own


def test_the_drivers_page_only_shows_unless_the_file_says_otherwise() -> None:
    assert "spark.ui.killEnabled false\n" in submit_command.properties_file(None, {})
    assert "spark.ui.killEnabled true\n" in submit_command.properties_file(None, {"spark.ui.killEnabled": "true"})


def test_a_pyspark_of_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime.metadata, "version", lambda _: "3.5.0")
    with pytest.raises(RefusedError, match=r"PySpark 3\.5\.0 is installed, and kcluster needs 4\.1\.3"):
        runtime.require()
