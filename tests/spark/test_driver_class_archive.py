"""The archive of classes is one that the JVM of a driver really takes."""

from __future__ import annotations

import os
import subprocess

from kcluster.clients.spark import driver_class_archive, runtime


def test_the_jvm_of_a_driver_takes_the_archive_of_classes(sooner: None) -> None:
    here = runtime.require()
    archive = driver_class_archive.options(here, "").split()[0]
    options = f"{archive} -Xshare:on -XX:+UseParallelGC"  # an archive that does not fit is fatal
    command = [str(here.submit), "--driver-java-options", options, "--version"]
    environment = {**os.environ, "JAVA_HOME": str(here.java_home), "SPARK_HOME": str(here.spark_home)}
    done = subprocess.run(command, capture_output=True, text=True, env=environment)
    assert done.returncode == 0, done.stdout + done.stderr
