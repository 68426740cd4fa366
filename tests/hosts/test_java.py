"""`kafka_install_java: true` on a host that has no Java, no way out, and one apt archive in a folder."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from pathlib import Path

import pytest

from tests.hosts.fleet import SOLO, Fleet, fleet_on
from tests.lab import Image, Recipe, base_image, own_lab, repository
from tests.lab.image import JAVA
from tests.lab.lab import fresh_name

JAVA_8 = """\
cat >/usr/local/bin/java <<'end'
#!/bin/sh
echo 'openjdk version "1.8.0_402"
OpenJDK Runtime Environment (build 1.8.0_402-b06)
OpenJDK 64-Bit Server VM (build 25.402-b06, mixed mode)' >&2
end
chmod 755 /usr/local/bin/java"""
"""What a Java 8 answers, which no release of Debian in the lab has any more."""

TRACES = "ls -d /opt/kafka /etc/kafka /var/lib/kafka /etc/systemd/system/kafka.service 2>/dev/null || true"
ASKED = SOLO.replace("    kafka_heap", "    kafka_install_java: true\n    kafka_heap")
BOOKWORM = Recipe(java=False)


@pytest.fixture
def bare(lab_image: Image, tmp_path: Path) -> Iterator[Fleet]:
    """A host without Java; what apt knows is an archive that it cannot reach."""
    with own_lab(fresh_name(), 1, base_image(BOOKWORM)) as lab:
        yield fleet_on(lab, SOLO, tmp_path / "solo")


def test_java_that_is_missing_or_too_old_is_refused_and_installed_where_that_is_asked_for(bare: Fleet) -> None:
    inventory = ["-i", str(bare.inventory)]
    refused = bare.run("provision", *inventory, "--yes", check=False)
    assert refused.returncode == 4
    assert "no Java" in refused.stderr
    assert "kafka_install_java: true" in bare.run("explain", "java-version").stdout

    bare.lab.ssh("h1", JAVA_8)
    looked = bare.run("check", *inventory, "-o", "json", check=False)
    (too_old,) = [each for each in json.loads(looked.stdout)["checks"] if each["id"] == "java-version"]
    assert looked.returncode == 4
    assert (too_old["severity"], too_old["found"]) == ("error", "Java 1.8.0_402 (/usr/local/bin/java)")
    assert too_old["required"] == "Java 11 or newer for Kafka 3.9.2"
    refused = bare.run("provision", *inventory, "--yes", check=False)
    assert refused.returncode == 4
    assert "error: 1 check failed, nothing was changed" in refused.stderr
    assert too_old["found"] in refused.stderr
    assert bare.lab.ssh("h1", TRACES) == ""
    bare.lab.ssh("h1", "rm /usr/local/bin/java")

    bare.write(ASKED)
    no_packages = bare.run("provision", *inventory, "--yes", check=False)
    assert no_packages.returncode == 5
    assert f"{JAVA['bookworm']} could not be installed: " in no_packages.stderr
    assert "package sources" in no_packages.stderr
    assert bare.lab.ssh("h1", "systemctl list-unit-files kafka.service || true").splitlines()[-1].startswith("0 ")

    (host,) = bare.lab.hosts
    shutil.copytree(repository(BOOKWORM, JAVA["bookworm"], "python3-apt"), host.root / "srv/packages")
    bare.lab.ssh("h1", "echo 'deb [trusted=yes] file:/srv/packages ./' >/etc/apt/sources.list")
    result = json.loads(bare.run("provision", *inventory, "--yes", "-o", "json").stdout)
    assert result["holds"] is True
    assert "Install Java" in {change["what"] for change in result["changed"]}
    assert 'openjdk version "17' in bare.lab.ssh("h1", "java -version 2>&1")
    assert bare.run("health", *inventory, "--wait", "60s").returncode == 0
    assert "nothing had to change" in bare.run("provision", *inventory, "--yes").stdout
