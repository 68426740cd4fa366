"""A node's files on this machine: written when they differ, and read back as the surroundings of its process."""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

from kcluster.config.file_paths import data_dirs
from kcluster.model.node import Node
from kcluster.render import RenderedFile, Role

_OURS = ("KAFKA_", "JMX_PORT", "CLASSPATH", "LOG_DIR", "EXTRA_ARGS", "SCALA_VERSION")


def placed_here(files: Iterable[RenderedFile]) -> tuple[RenderedFile, ...]:
    """The files a local cluster needs: nothing for systemd."""
    return tuple(file for file in files if file.role not in (Role.UNIT, Role.SCRIPT))


def write(node: Node, files: Iterable[RenderedFile]) -> None:
    """Make the node's folders and write those of its files that differ."""
    for folder in (node.places.config_dir, node.places.log_dir, *data_dirs(node)):
        os.makedirs(folder, exist_ok=True)
    for file in files:
        path = Path(file.path)
        if not path.is_file() or path.read_text() != file.text:
            path.touch(mode=int(file.mode, 8))
            path.write_text(file.text)


def digest(files: Iterable[RenderedFile], release_home: str) -> str:
    """What a node was started with, as one word to compare."""
    content = hashlib.sha256(release_home.encode())
    for file in files:
        content.update(file.text.encode())
    return content.hexdigest()[:16]


def surroundings(files: Iterable[RenderedFile], options: str) -> dict[str, str]:
    """The environment of the node's process: ours without any Kafka settings, then what its file says."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_OURS)}
    environment |= declared(next(file.text for file in files if file.role is Role.ENVIRONMENT))
    environment["KAFKA_OPTS"] = f"{options} {environment.get('KAFKA_OPTS', '')}".strip()
    return environment


def for_tools(environment: Mapping[str, str]) -> dict[str, str]:
    """The same surroundings for a tool: with a small heap, and without the server's log files."""
    servers = ("KAFKA_LOG4J_OPTS", "KAFKA_GC_LOG_OPTS", "KAFKA_JMX_OPTS", "JMX_PORT")
    kept = {name: value for name, value in environment.items() if name not in servers}
    return kept | {"KAFKA_HEAP_OPTS": "-Xmx128m"}


def declared(text: str) -> Mapping[str, str]:
    """The variables of an environment file as systemd reads it."""
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    words = (shlex.split(line)[0] for line in lines)
    return dict(word.split("=", 1) for word in words)


def config_file(files: Iterable[RenderedFile]) -> str:
    """The path that the launch script is given."""
    return next(file.path for file in files if file.role is Role.CONFIG)
