"""The archive of classes from which a driver starts: without it, a third of a start is reading the same classes."""

from __future__ import annotations

import fcntl
import os
import subprocess
from hashlib import sha256
from pathlib import Path

from kcluster import paths
from kcluster.clients.spark.runtime import VERSION, Runtime

_QUIET = "-Xlog:cds=off -Xlog:cds+dynamic=off"
"""An archive that does not fit any more is no use, and nothing to tell the user about."""
_FOREIGN = ("-agent", "-javaagent", "SharedArchive", "ArchiveClasses", "-Xshare", "-Xbootclasspath")
"""Options of people with plans of their own; with agents the JVM refuses archives."""
_KEEP = '"$@" && mv -f "$ARCHIVE.new" "$ARCHIVE"'


def options(runtime: Runtime, theirs: str) -> str:
    """The options with which a driver starts from the archive; empty when there is none, or it would disturb."""
    file = _file(runtime)
    if not file.exists() or any(word in theirs for word in _FOREIGN):
        return ""
    return f"-XX:SharedArchiveFile={file} {_QUIET}"


def make(runtime: Runtime, *, wait: bool = False) -> None:
    """Make the archive where there is none, once for each Java and PySpark, in the background of everything else."""
    file = _file(runtime)
    if file.exists() and not wait:
        return
    file.parent.mkdir(parents=True, exist_ok=True)
    with file.with_suffix(".lock").open("w") as lock:
        try:
            fcntl.flock(lock, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
        except BlockingIOError:
            return  # another submit makes it
        if not file.exists() and not _tried(file):
            _train(runtime, file, lock.fileno(), wait)


def _train(runtime: Runtime, file: Path, lock: int, wait: bool) -> None:
    """Run the training; the lock is the training's too, so that it lasts as long, also when we end before it."""
    _clear(file)
    file.with_suffix(".tried").write_text(str(runtime.spark_home))
    options = f"-XX:+UseParallelGC -XX:ArchiveClassesAtExit={file}.new {_QUIET}"
    command = ["nice", "-n", "19", str(runtime.submit), "--master", "local[1]"]
    command += ["--conf", f"spark.driver.extraJavaOptions={options}"]
    command.append(str(paths.project() / "spark_jobs" / "runtime" / "class_training.py"))
    homes = {"SPARK_HOME": str(runtime.spark_home), "JAVA_HOME": str(runtime.java_home)}
    started = subprocess.Popen(
        ["/bin/sh", "-c", _KEEP, "sh", *command],
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
    """Whether it was tried and came to nothing: a Java that cannot do it would be asked at each submit again."""
    return file.with_suffix(".tried").exists()


def _clear(file: Path) -> None:
    """Remove the archives of installations that are gone: each is as large as a release."""
    for note in file.parent.glob("classes-*.tried"):
        if not Path(note.read_text()).exists():
            note.with_suffix(".jsa").unlink(missing_ok=True)
            note.unlink()


def _file(runtime: Runtime) -> Path:
    """The archive of this PySpark, at this place, and this build of Java."""
    jvm = (runtime.java_home / "lib" / "server" / "libjvm.so").stat()
    jars = (runtime.spark_home / "jars").stat()
    fits = f"{runtime.spark_home} {jars.st_mtime_ns} {runtime.java_home} {jvm.st_mtime_ns} {jvm.st_size}"
    return paths.cache() / "spark" / VERSION / f"classes-{sha256(fits.encode()).hexdigest()[:12]}.jsa"
