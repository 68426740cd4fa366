"""A Kafka release: a version, and what follows from it."""

from __future__ import annotations

import re
from dataclasses import dataclass

SOURCES = ("cache", "file", "url", "maven")


@dataclass(frozen=True)
class Release:
    """A Kafka version built for a Scala version."""

    version: str = "3.9.2"
    scala: str = "2.13"
    sources: tuple[str, ...] = ("cache", "maven", "url")
    """Where it comes from, in the order to try: `cache`, `maven`, `url`, a path, or a URL."""
    sha512: str = ""
    """The SHA-512 that an archive must have, as a person gave it; empty when nobody did."""

    @property
    def unverifiable(self) -> tuple[str, ...]:
        """The sources over plain HTTP: who can change an archive on its way can change the hash beside it too."""
        return () if self.sha512 else tuple(source for source in self.sources if source.startswith("http://"))

    @property
    def sha512_fault(self) -> str:
        """What is wrong with the SHA-512; empty when nothing is."""
        valid = not self.sha512 or re.fullmatch(r"[0-9a-f]{128}", self.sha512)
        return "" if valid else f"has {len(self.sha512)} characters and is not 128 of 0-9 and a-f, as sha512sum prints"

    @property
    def numbers(self) -> tuple[int, ...]:
        """The version to compare with: (3, 9, 2)."""
        return tuple(int(part) for part in re.findall(r"\d+", self.version))

    @property
    def title(self) -> str:
        """The release in a sentence: "Kafka 3.9.2"."""
        return f"Kafka {self.version}"

    @property
    def directory(self) -> str:
        """The name of the release's top directory, as in Apache's tarball."""
        return f"kafka_{self.scala}-{self.version}"

    @property
    def supports_zookeeper(self) -> bool:
        """ZooKeeper mode ended with 4.0."""
        return self.numbers < (4, 0)

    @property
    def log4j2(self) -> bool:
        """4.0 moved from log4j 1 (properties) to log4j 2 (YAML)."""
        return self.numbers >= (4, 0)

    @property
    def java(self) -> int:
        """The oldest Java that it supports in production."""
        return 17 if self.numbers >= (4, 0) else 11
