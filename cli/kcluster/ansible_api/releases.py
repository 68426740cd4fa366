"""For the action `release`: the release of a part as one file, and the program that receives it on a host."""

from __future__ import annotations

from kcluster.clients import host_scripts
from kcluster.model.cluster import Part
from kcluster.model.spark_cluster import SparkRelease
from kcluster.releases import spark_archive
from kcluster.releases.tarball import Tarball, forget, tarball, turn
from kcluster.results import Progress

__all__ = ["Tarball", "forget", "made", "receiver", "turn"]


def made(part: Part, progress: Progress) -> Tarball:
    """The release of a part in one file, fetched and put together if need be; raises KclusterError."""
    release = part.release
    return (
        spark_archive.spark_tarball(release, progress)
        if isinstance(release, SparkRelease)
        else tarball(release, progress)
    )


def receiver(tar: Tarball, install_dir: str, name: str) -> bytes:
    """The program that installs on a host what follows it on standard input."""
    question = {"install_dir": install_dir, "name": name, "sha512": tar.sha512, "size": tar.size}
    return host_scripts.program("release", question, function="receive").encode()
