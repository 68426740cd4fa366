"""Copies jars of exact versions with the user's Maven and its repositories."""

from __future__ import annotations

import errno
import os
import re
import shutil
import subprocess
from collections.abc import Iterator, Sequence
from pathlib import Path
from xml.sax.saxutils import escape

from kcluster.errors import UnreachableError
from kcluster.results import Meter

PLUGIN = "org.apache.maven.plugins:maven-dependency-plugin:2.8:copy-dependencies"
"""With its version, so that Maven does not ask a repository for the newest plugin."""

_DEPENDENCY = (
    "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version><exclusions><exclusion>"
    "<groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions></dependency>"
)


def pom(coordinates: Sequence[str]) -> str:
    """A POM with exactly these `group:artifact:version` as dependencies, none of them transitive."""
    dependencies = [_DEPENDENCY.format(*map(escape, one.split(":"))) for one in coordinates]
    return "\n".join(
        [
            "<project><modelVersion>4.0.0</modelVersion>",
            "<groupId>kcluster</groupId><artifactId>release</artifactId><version>1</version><dependencies>",
            *dependencies,
            "</dependencies></project>\n",
        ]
    )


def command(project: Path, into: Path) -> list[str]:
    """The Maven command: batch mode, strict checksums, one minute until a request times out."""
    return [
        "mvn",
        "--batch-mode",
        "--strict-checksums",
        "-Dmaven.wagon.rto=60000",
        "-Daether.connector.requestTimeout=60000",
        "--file",
        str(project),
        PLUGIN,
        "-DincludeScope=runtime",
        f"-DoutputDirectory={into}",
    ]


def copy(coordinates: Sequence[str], project: Path, into: Path, meter: Meter) -> None:
    """Copy the jars to a directory, with the POM written to `project`; UnreachableError when Maven fails."""
    if not shutil.which("mvn"):
        raise UnreachableError(
            "Maven is not installed: there is no `mvn`", resolution="install Maven: apt-get install maven"
        )
    project.write_text(pom(coordinates))
    code, lines = _run(command(project, into), len(coordinates), meter)
    if code:
        raise _failure(code, lines)


def _run(arguments: list[str], jars: int, meter: Meter) -> tuple[int, list[str]]:
    with subprocess.Popen(
        arguments, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True
    ) as maven:
        assert maven.stdout
        try:
            lines = list(_counted(maven.stdout, jars, meter))
        except BaseException:  # mostly Ctrl-C: do not leave Maven running
            maven.terminate()
            maven.wait()
            raise
    return maven.returncode, lines


def _counted(output: Iterator[str], jars: int, meter: Meter) -> Iterator[str]:
    """The output lines, counting downloaded jars; Maven's plugins count too, so the number is capped at the total."""
    arrived = 0
    for line in output:
        if line.startswith("[INFO] Downloaded ") and ".jar " in line:
            arrived += 1
            meter(min(arrived, jars), jars, "jars")
        yield line


def _failure(code: int, lines: Sequence[str]) -> Exception:
    """The error for Maven's output."""
    text = "".join(lines)
    for fault in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
        if os.strerror(fault) in text:
            return OSError(fault, os.strerror(fault))
    return UnreachableError(f"Maven failed with code {code}: {_reason(lines)}")


def _reason(lines: Sequence[str]) -> str:
    """The reason of a failure in Maven's output."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", " ".join(line for line in lines if "ERROR" in line))
    found = re.search(r"(Could not (find|transfer) artifact .*?)( -> |\[ERROR\]|$)", text)
    found = found or re.search(r"\[ERROR\] (.*?)( -> |\[ERROR\]|$)", text)
    return found[1].strip() if found else (lines[-1].strip() if lines else "no output")
