"""Starting nodes of a local cluster: archives, storage that must be formatted first, and the processes."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

from kcluster.clients import processes
from kcluster.clients.processes import Process
from kcluster.config.file_paths import data_dirs
from kcluster.errors import ApplyError
from kcluster.local import class_archives, node_files, node_log
from kcluster.local.class_archives import Archives
from kcluster.local.cluster_record import ClusterRecord, StartedProcess
from kcluster.model.node import Kind, Node
from kcluster.model.quorum import Quorum
from kcluster.render import RenderedFile

_SCRIPTS = {
    Kind.ZOOKEEPER: "zookeeper-server-start.sh",
    Kind.CONTROLLER: "kafka-server-start.sh",
    Kind.BROKER: "kafka-server-start.sh",
}
_FORMATTED_WITHIN = 120.0


@dataclass(frozen=True)
class Ready:
    """A node whose files are written, and the digest of what it would start with."""

    node: Node
    files: tuple[RenderedFile, ...]
    digest: str


@dataclass(frozen=True)
class Launcher:
    """Starts nodes from one release with one Java."""

    release_home: Path
    archives: Archives

    def options(self, nodes: Sequence[Ready]) -> dict[str, tuple[str, str]]:
        """JVM options and the archive being made, by node: the first node of a kind makes what is missing."""
        chosen: dict[str, tuple[str, str]] = {}
        made: set[Kind] = set()
        for kind, name in ((ready.node.kind, ready.node.name) for ready in nodes):
            if self.archives.usable(kind, self.release_home / "libs"):
                chosen[name] = self.archives.using(kind), ""
            elif kind in made:
                chosen[name] = class_archives.without(), ""
            else:
                path = self.archives.making(kind)
                chosen[name] = class_archives.writing(path), str(path)
                made.add(kind)
        return chosen

    def start(
        self, record: ClusterRecord, nodes: Sequence[Ready], remember: Callable[[ClusterRecord], None]
    ) -> ClusterRecord:
        """Start all nodes at once; each is remembered as soon as it runs."""
        options = self.options(nodes)
        for ready in nodes:
            jvm, archive = options[ready.node.name]
            environment = node_files.surroundings(ready.files, jvm)
            with processes.undisturbed():  # Ctrl-C must not come between a start and its record
                process = self._run(
                    ready, _SCRIPTS[ready.node.kind], [node_files.config_file(ready.files)], environment
                )
                record = record.with_started(ready.node.name, StartedProcess(process, ready.digest, archive))
                remember(record)
        return record

    def check_archives(self, record: ClusterRecord, nodes: Iterable[Ready]) -> None:
        """Find out whether the JVMs have taken the archives they were offered."""
        for ready in nodes:
            started = record.started[ready.node.name]
            if not started.archive:
                self.archives.drop_if_unused(ready.node.kind, started.process)

    def format(self, nodes: Iterable[Ready], quorum: Quorum) -> None:
        """Format the storage of those nodes that have none yet, all at the same time."""
        new = [ready for ready in nodes if unformatted(ready.node)]
        running = [self._format(ready, quorum.cluster_id) for ready in new]
        try:
            processes.left_after(running, _FORMATTED_WITHIN)
        except KeyboardInterrupt:
            # Half-formatted storage would be refused by the next start: this takes a second or two to complete.
            processes.left_after(running, _FORMATTED_WITHIN)
            raise
        for ready in new:
            if unformatted(ready.node):
                raise _not_formatted(ready.node)

    def _format(self, ready: Ready, cluster_id: str) -> Process:
        arguments = ["format", f"-t={cluster_id}", f"-c={node_files.config_file(ready.files)}", "-g"]
        environment = node_files.for_tools(node_files.surroundings(ready.files, self.archives.using(Kind.BROKER)))
        return self._run(ready, "kafka-storage.sh", arguments, environment)

    def _run(self, ready: Ready, script: str, arguments: Sequence[str], environment: Mapping[str, str]) -> Process:
        return processes.start(
            [str(self.release_home / "bin" / script), *arguments],
            environment=environment,
            directory=Path(ready.node.places.log_dir),
            output=node_log.console(ready.node),
        )


def unformatted(node: Node) -> bool:
    """Whether a data directory of the node has not been formatted."""
    return any(not Path(folder, "meta.properties").is_file() for folder in data_dirs(node))


def _not_formatted(node: Node) -> ApplyError:
    return ApplyError(
        f"the storage of {node.name} could not be formatted",
        details="\n".join(node_log.tail(node_log.console(node), 12)),
        resolution="correct the setting or make room, then `kcluster up`",
    )
