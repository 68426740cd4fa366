"""The archive of classes is one that the JVM of a driver really takes."""

from __future__ import annotations

import subprocess

from kcluster.clients.spark import archive, runtime


def test_the_jvm_of_a_driver_takes_the_archive_of_classes(sooner: None) -> None:
    here = runtime.require()
    option = archive.options(here, "").split()[0]
    classes = f"{here.spark_home}/conf:{here.spark_home}/jars/*"
    command = [str(here.java_home / "bin" / "java"), "-XX:+UseParallelGC", option, "-Xshare:on", "-cp", classes]
    done = subprocess.run(
        [*command, "org.apache.spark.deploy.SparkSubmit", "--version"], capture_output=True, text=True
    )
    assert done.returncode == 0, done.stdout + done.stderr
