"""The files of a local node: writing those that differ, and the environment of its process."""

from __future__ import annotations

import hashlib
import os
import shlex
from collections.abc import Iterable, Mapping
from pathlib import Path

from kcluster.config.file_paths import data_dirs
from kcluster.model.node import Node
from kcluster.render import RenderedFile, Role

_KAFKA_VARIABLES = ("KAFKA_", "JMX_PORT", "CLASSPATH", "LOG_DIR", "EXTRA_ARGS", "SCALA_VERSION")


def placed_here(files: Iterable[RenderedFile]) -> tuple[RenderedFile, ...]:
    """The files that a local node needs: those for systemd left out."""
    return tuple(file for file in files if file.role not in (Role.UNIT, Role.SCRIPT))


def write(node: Node, files: Iterable[RenderedFile]) -> None:
    """Create the node's directories and write the files that differ."""
    for folder in (node.places.config_dir, node.places.log_dir, *data_dirs(node)):
        os.makedirs(folder, exist_ok=True)
    for file in files:
        path = Path(file.path)
        if not path.is_file() or path.read_text() != file.text:
            path.touch(mode=int(file.mode, 8))
            path.write_text(file.text)


def digest(files: Iterable[RenderedFile], release_home: str) -> str:
    """A digest of the files and the release that a node starts with."""
    content = hashlib.sha256(release_home.encode())
    for file in files:
        content.update(file.text.encode())
    return content.hexdigest()[:16]


def process_environment(files: Iterable[RenderedFile], options: str) -> dict[str, str]:
    """The environment of a node: that of kcluster without Kafka settings, plus the node's environment file."""
    environment = {name: value for name, value in os.environ.items() if not name.startswith(_KAFKA_VARIABLES)}
    environment |= parse_environment(next(file.text for file in files if file.role is Role.ENVIRONMENT))
    environment["KAFKA_OPTS"] = f"{options} {environment.get('KAFKA_OPTS', '')}".strip()
    return environment


def for_tools(environment: Mapping[str, str]) -> dict[str, str]:
    """The environment for a command line tool: a small heap, and no log files of the server."""
    servers = ("KAFKA_LOG4J_OPTS", "KAFKA_GC_LOG_OPTS", "KAFKA_JMX_OPTS", "JMX_PORT")
    kept = {name: value for name, value in environment.items() if name not in servers}
    return kept | {"KAFKA_HEAP_OPTS": "-Xmx128m"}


def parse_environment(text: str) -> Mapping[str, str]:
    """The variables of an environment file, parsed as systemd does."""
    lines = (line for line in text.splitlines() if line and not line.startswith("#"))
    words = (shlex.split(line)[0] for line in lines)
    return dict(word.split("=", 1) for word in words)


def config_file(files: Iterable[RenderedFile]) -> str:
    """The path of the configuration file, the argument of the launch script."""
    return next(file.path for file in files if file.role is Role.CONFIG)
