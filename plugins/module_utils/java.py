"""The Java of a host: where a unit would find it, and its version."""

from __future__ import annotations

import os
import re

from ansible_collections.kcluster.kafka.plugins.module_utils.files import read

SYSTEMD_PATH = "/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin"
"""Where systemd looks for programs when a unit does not say."""


def program(java_home: str, path: str = "") -> str:
    """The `java` that a unit would start; empty when there is none."""
    places = [os.path.join(java_home, "bin")] if java_home else (path or SYSTEMD_PATH).split(":")
    programs = [os.path.join(place, "java") for place in places]
    return next((each for each in programs if os.access(each, os.X_OK)), "")


def version(program: str) -> str:
    """The version out of the file beside the program, because Java itself takes a third of a second to print it."""
    home = os.path.dirname(os.path.dirname(os.path.realpath(program)))
    for place in (home, os.path.dirname(home)):  # Java 8 has its program in jre/bin
        found = re.search(r'^JAVA_VERSION="(.+)"', read(os.path.join(place, "release")) or "", re.MULTILINE)
        if found:
            return found.group(1)
    found = re.search(r'version "(.+?)"', output([program, "-version"]))
    return found.group(1) if found else ""


def output(command: list[str]) -> str:
    """What a program prints on either stream within 10 seconds; empty when it cannot be run."""
    import subprocess  # a tenth of a whole script, and most hosts need no program

    try:
        done = subprocess.run(command, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, timeout=10, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return ""
    return done.stdout.decode(errors="replace")


def found_version(java_home: str, path: str = "") -> str:
    """The version of the Java that a unit would start; empty when there is none."""
    found = program(java_home, path)
    return version(found) if found else ""


def feature(text: str) -> int:
    """The number people mean: 17 of "17.0.15", 8 of "1.8.0_392"."""
    numbers = [int(part) for part in re.findall(r"\d+", text)]
    return numbers[1] if numbers[:1] == [1] and len(numbers) > 1 else (numbers or [0])[0]


def lacking(found: str, oldest: int, java_home: str, release: str) -> str:
    """What is wrong with the Java that was found; empty when a release can use it."""
    if found and feature(found) >= oldest:
        return ""
    where = f" in {java_home} (JAVA_HOME)" if java_home else ""
    if found:
        return f"Java {found}{where} is too old: {release} needs Java {oldest} or newer"
    return f"there is no Java{where}: {release} needs Java {oldest} or newer"


def package(release_text: str) -> str:
    """The package with a Java that runs every release, for the system that /etc/os-release describes."""
    fields = {key: value.strip("\"'") for key, value in re.findall(r"^(\w+)=(.*)$", release_text, re.MULTILINE)}
    family = {fields.get("ID", ""), *fields.get("ID_LIKE", "").split()}
    if family & {"rhel", "fedora", "centos"}:
        return "java-17-openjdk-headless"
    if fields.get("ID") == "debian" and feature(fields.get("VERSION_ID", "99")) > 12:
        return "default-jre-headless"  # 17 is gone there
    return "openjdk-17-jre-headless"


def advice(java_home: str, name: str) -> str:
    """What to do about a missing Java."""
    if java_home:
        return "\ntry: correct JAVA_HOME in the inventory (kafka_environment, spark_environment), or remove it"
    return f"\ntry: install {name}, or let kcluster do it: kafka_install_java: true"
