"""The Java of this machine: location, version and build."""

from __future__ import annotations

import os
import re
import shutil
from dataclasses import dataclass
from pathlib import Path

from kcluster.errors import RefusedError


@dataclass(frozen=True)
class Java:
    """A Java runtime of this machine."""

    home: Path
    version: str

    @property
    def feature(self) -> int:
        """The feature version: 17 of "17.0.15", 8 of "1.8.0_392"."""
        numbers = [int(part) for part in re.findall(r"\d+", self.version)]
        if numbers[:1] == [1] and len(numbers) > 1:
            return numbers[1]
        return numbers[0] if numbers else 0

    @property
    def build(self) -> str:
        """The build as a directory name: class data archives fit one build only."""
        return re.sub(r"[^A-Za-z0-9.+-]", "-", self.version)


def require(oldest: int, what: str) -> Java:
    """The Java of this machine; RefusedError when it is missing or older than `oldest`."""
    install = "sudo apt install default-jre-headless"
    java = find()
    if java is None:
        raise RefusedError(f"Java is not installed; {what} needs Java {oldest} or newer", resolution=install)
    if java.feature < oldest:
        raise RefusedError(
            f"Java {java.version} is too old: {what} needs Java {oldest} or newer",
            details=f"found at {java.home}",
            resolution=f"{install}, or set JAVA_HOME to a newer one",
        )
    return java


def find() -> Java | None:
    """The Java of the launch scripts: of JAVA_HOME, else on the PATH; None when there is none."""
    if home := os.environ.get("JAVA_HOME"):
        return _at(Path(home)) if os.access(Path(home, "bin/java"), os.X_OK) else None
    program = shutil.which("java")
    return _at(Path(program).resolve().parent.parent, Path(program)) if program else None


def _at(home: Path, program: Path | None = None) -> Java:
    # The `release` file has the version without starting a JVM.
    try:
        text = (home / "release").read_text()
    except OSError:
        text = ""
    version = re.search(r'^JAVA_RUNTIME_VERSION="(.+)"', text, re.M) or re.search(r'^JAVA_VERSION="(.+)"', text, re.M)
    return Java(home, version[1] if version else _printed_version(program or home / "bin/java"))


def _printed_version(program: Path) -> str:
    """The version that `java -version` prints: `openjdk version "17.0.15" 2025-04-15`."""
    import subprocess

    answer = subprocess.run([program, "-version"], capture_output=True, text=True, check=False)
    version = re.search(r'version "(.+?)"', answer.stderr + answer.stdout)
    return version[1] if version else ""
