"""The door to Maven: copies jars of exact versions out of the repositories that the user's Maven is set up for."""

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
"""Named in full, so that a repository that is not reachable is not asked for the newest plugin."""

_DEPENDENCY = (
    "<dependency><groupId>{}</groupId><artifactId>{}</artifactId><version>{}</version><exclusions><exclusion>"
    "<groupId>*</groupId><artifactId>*</artifactId></exclusion></exclusions></dependency>"
)


def pom(coordinates: Sequence[str]) -> str:
    """A project whose dependencies are exactly these `group:artifact:version`, with nothing transitive."""
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
    """The Maven call: batch mode, a wrong checksum is an error, and no answer is one after a minute."""
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
    """Copy the jars into a folder; `project` is where the pom is written."""
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
        except BaseException:  # Ctrl-C above all: Maven must not go on without us
            maven.terminate()
            maven.wait()
            raise
    return maven.returncode, lines


def _counted(output: Iterator[str], jars: int, meter: Meter) -> Iterator[str]:
    """The output, counting the jars that arrive; the plugins' own jars arrive as well, so the total is a bound."""
    arrived = 0
    for line in output:
        if line.startswith("[INFO] Downloaded ") and ".jar " in line:
            arrived += 1
            meter(min(arrived, jars), jars, "jars")
        yield line


def _failure(code: int, lines: Sequence[str]) -> Exception:
    """What Maven's output means."""
    text = "".join(lines)
    for fault in (errno.ENOSPC, errno.EFBIG, errno.EDQUOT):
        if os.strerror(fault) in text:
            return OSError(fault, os.strerror(fault))
    return UnreachableError(f"Maven failed with code {code}: {_reason(lines)}")


def _reason(lines: Sequence[str]) -> str:
    """The sentence in Maven's output that says what was wrong."""
    text = re.sub(r"\x1b\[[0-9;]*m", "", " ".join(line for line in lines if "ERROR" in line))
    found = re.search(r"(Could not (find|transfer) artifact .*?)( -> |\[ERROR\]|$)", text)
    found = found or re.search(r"\[ERROR\] (.*?)( -> |\[ERROR\]|$)", text)
    return found[1].strip() if found else (lines[-1].strip() if lines else "it said nothing")
