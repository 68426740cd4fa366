from __future__ import annotations

import shlex
from pathlib import Path

import pytest

from kcluster.clients.spark import line, runtime
from kcluster.errors import RefusedError

HERE = runtime.Runtime(Path("/opt/spark home"), Path("/opt/java"), Path("/opt/python"))


def test_the_line_can_be_pasted_also_with_spaces_in_paths() -> None:
    made = line.submit(HERE, [Path("/c/a b.jar"), Path("/c/c.jar")], "local[*]", Path("/jobs/one"), "h:9092")
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
    made = line.submit(HERE, [], "yarn", Path("/jobs/one"), "h:9092")
    assert made.environment == {
        "SPARK_HOME": "/opt/spark home",
        "JAVA_HOME": "/opt/java",
        "PYSPARK_DRIVER_PYTHON": "/opt/python",
    }
    assert made.command[made.command.index("--master") + 1] == "yarn"


def test_our_logging_stands_beside_the_users_own_options_of_the_jvm() -> None:
    told = line.properties(None, {"spark.driver.extraJavaOptions": "-Xss4m", "spark.driver.memory": "2g"})
    ours = f"-Dlog4j2.configurationFile={line.LOGGING.as_uri()}"
    assert f"spark.driver.extraJavaOptions {ours} -XX:+UseParallelGC -Xss4m\n" in told
    assert "spark.driver.memory 2g\n" in told
    assert line.LOGGING.is_file()
    own = line.properties(None, {"spark.driver.extraJavaOptions": "-XX:+UseG1GC"})
    assert f"spark.driver.extraJavaOptions {ours} -XX:+UseG1GC\n" in own


def test_a_pyspark_of_another_version_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(runtime.metadata, "version", lambda _: "3.5.0")
    with pytest.raises(RefusedError, match=r"PySpark 3\.5\.0 is installed, and kcluster needs 4\.1\.3"):
        runtime.require()
