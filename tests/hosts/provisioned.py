"""Hosts on which a cluster runs already: provisioned once for each state of the project, and kept as disks."""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from functools import partial
from pathlib import Path
from tempfile import TemporaryDirectory

from tests.hosts.fleet import LIGHT, PROJECT, Fleet, fleet_on, served
from tests.lab import Image, Lab, own_lab
from tests.lab.kept import digest, kept
from tests.lab.lab import fresh_name

INPUTS = (
    *("cli/kcluster", "plugins", "roles", "playbooks", "templates", "meta", "galaxy.yml"),
    *("requirements.lock", "spark_jobs/requirements.lock", "tests/lab", "tests/hosts/fleet.py"),
)
"""Where anything else than this changes, hosts would be provisioned as before."""


@contextmanager
def provisioned(size: int, cluster: str, image: Image, folder: Path) -> Iterator[Fleet]:
    """Hosts of a lab on which a cluster runs and is healthy, as after a boot."""
    key = digest(PROJECT, INPUTS, str(image.folder), str(size), cluster, repr(LIGHT))
    disks = kept(key, size, image, partial(_provision, cluster=cluster))
    with own_lab(fresh_name(), size, *disks) as lab:
        fleet = fleet_on(lab, cluster, folder / lab.name)
        served(fleet)
        yield fleet


def _provision(lab: Lab, cluster: str) -> None:
    """Bring a cluster up, prove it, and stop it in order; it starts with its hosts."""
    with TemporaryDirectory() as folder:
        fleet = fleet_on(lab, cluster, Path(folder))
        for word in ("provision", "stop"):
            fleet.run(word, "-i", str(fleet.inventory), "--yes")
