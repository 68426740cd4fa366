"""A class data archive (CDS) for drivers: without it a third of a start is spent on loading classes."""

from __future__ import annotations

import fcntl
import os
import subprocess
from hashlib import sha256
from pathlib import Path

from kcluster import paths
from kcluster.clients.spark.runtime import VERSION, SparkRuntime

_QUIET = "-Xlog:cds=off -Xlog:cds+dynamic=off"
"""No warnings about an archive that does not match the JVM any more."""
_CONFLICTING = ("-agent", "-javaagent", "SharedArchive", "ArchiveClasses", "-Xshare", "-Xbootclasspath")
"""Options that conflict with the archive; with agents the JVM refuses it."""
_KEEP_SCRIPT = '"$@" && mv -f "$ARCHIVE.new" "$ARCHIVE"'


def options(runtime: SparkRuntime, jvm_options: str) -> str:
    """JVM options to use the archive; empty without one, or when the job's own options conflict."""
    file = _file(runtime)
    if not file.exists() or any(option in jvm_options for option in _CONFLICTING):
        return ""
    return f"-XX:SharedArchiveFile={file} {_QUIET}"


def make(runtime: SparkRuntime, *, wait: bool = False) -> None:
    """Create a missing archive, once per Java and PySpark, in the background; with `wait` block until it is done."""
    file = _file(runtime)
    if file.exists() and not wait:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.with_suffix(".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return  # another submit creates it
        if not file.exists() and not _tried(file):
            _train(runtime, file, lock.fileno(), wait)


def _train(runtime: SparkRuntime, file: Path, lock: int, wait: bool) -> None:
    """Start the training; it inherits the lock, which so lasts until the training ends."""
    _clear(file)
    file.with_suffix(".tried").write_text(str(runtime.spark_home))
    options = f"-XX:+UseParallelGC -XX:ArchiveClassesAtExit={file}.new {_QUIET}"
    command = ["nice", "-n", "19", str(runtime.submit), "--master", "local[1]"]
    command += ["--conf", f"spark.driver.extraJavaOptions={options}"]
    command.append(str(paths.project() / "spark_jobs" / "runtime" / "class_training.py"))
    homes = {"SPARK_HOME": str(runtime.spark_home), "JAVA_HOME": str(runtime.java_home)}
    started = subprocess.Popen(
        ["/bin/sh", "-c", _KEEP_SCRIPT, "sh", *command],
        env={**os.environ, **homes, "PYSPARK_PYTHON": str(runtime.python), "SPARK_LOCAL_IP": "127.0.0.1"}
        | {"ARCHIVE": str(file)},
        stdin=subprocess.DEVNULL,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
        pass_fds=[lock],
        start_new_session=True,
    )
    if wait:
        started.wait()


def _tried(file: Path) -> bool:
    """Whether an earlier attempt failed: without this every submit would try again."""
    return file.with_suffix(".tried").exists()


def _clear(file: Path) -> None:
    """Remove archives of installations that no longer exist: each is as large as a release."""
    for note in file.parent.glob("classes-*.tried"):
        if not Path(note.read_text()).exists():
            note.with_suffix(".jsa").unlink(missing_ok=True)
            note.unlink()


def _file(runtime: SparkRuntime) -> Path:
    """The archive for this PySpark installation and this build of Java."""
    jvm = (runtime.java_home / "lib" / "server" / "libjvm.so").stat()
    jars = (runtime.spark_home / "jars").stat()
    identity = f"{runtime.spark_home} {jars.st_mtime_ns} {runtime.java_home} {jvm.st_mtime_ns} {jvm.st_size}"
    return paths.cache() / "spark" / VERSION / f"classes-{sha256(identity.encode()).hexdigest()[:12]}.jsa"
