"""Starting nodes of a local cluster: class archives, KRaft storage to format first, and the processes."""

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
class PreparedNode:
    """A node whose files are written, with the digest of everything it would start with."""

    node: Node
    files: tuple[RenderedFile, ...]
    digest: str


@dataclass(frozen=True)
class Launcher:
    """Starts nodes from one release with one Java."""

    release_home: Path
    archives: Archives

    def options(self, nodes: Sequence[PreparedNode]) -> dict[str, tuple[str, str]]:
        """JVM options and the class archive to write, by node; the first node of a kind writes a missing archive."""
        chosen: dict[str, tuple[str, str]] = {}
        made: set[Kind] = set()
        for kind, name in ((prepared.node.kind, prepared.node.name) for prepared in nodes):
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
        self, record: ClusterRecord, nodes: Sequence[PreparedNode], remember: Callable[[ClusterRecord], None]
    ) -> ClusterRecord:
        """Start all nodes at once and return the record with them; `remember` saves it after each start."""
        options = self.options(nodes)
        for prepared in nodes:
            jvm, archive = options[prepared.node.name]
            environment = node_files.process_environment(prepared.files, jvm)
            with processes.signals_blocked():  # no Ctrl-C between a start and its record
                process = self._run(
                    prepared, _SCRIPTS[prepared.node.kind], [node_files.config_file(prepared.files)], environment
                )
                record = record.with_started(prepared.node.name, StartedProcess(process, prepared.digest, archive))
                remember(record)
        return record

    def check_archives(self, record: ClusterRecord, nodes: Iterable[PreparedNode]) -> None:
        """Drop the class archives that the JVMs did not accept."""
        for prepared in nodes:
            started = record.started[prepared.node.name]
            if not started.archive:
                self.archives.drop_if_unused(prepared.node.kind, started.process)

    def format(self, nodes: Iterable[PreparedNode], quorum: Quorum) -> None:
        """Format the storage of nodes without one, all at once; ApplyError with the output where that fails."""
        new = [prepared for prepared in nodes if unformatted(prepared.node)]
        running = [self._format(prepared, quorum.cluster_id) for prepared in new]
        try:
            processes.left_after(running, _FORMATTED_WITHIN)
        except KeyboardInterrupt:
            # The next start would refuse half-formatted storage; completing it takes a second or two.
            processes.left_after(running, _FORMATTED_WITHIN)
            raise
        for prepared in new:
            if unformatted(prepared.node):
                raise _not_formatted(prepared.node)

    def _format(self, prepared: PreparedNode, cluster_id: str) -> Process:
        arguments = ["format", f"-t={cluster_id}", f"-c={node_files.config_file(prepared.files)}", "-g"]
        environment = node_files.for_tools(
            node_files.process_environment(prepared.files, self.archives.using(Kind.BROKER)),
        )
        return self._run(prepared, "kafka-storage.sh", arguments, environment)

    def _run(
        self, prepared: PreparedNode, script: str, arguments: Sequence[str], environment: Mapping[str, str]
    ) -> Process:
        return processes.start(
            [str(self.release_home / "bin" / script), *arguments],
            environment=environment,
            directory=Path(prepared.node.places.log_dir),
            output=node_log.console(prepared.node),
        )


def unformatted(node: Node) -> bool:
    """Whether a data directory of the node has not been formatted."""
    return any(not Path(folder, "meta.properties").is_file() for folder in data_dirs(node))


def _not_formatted(node: Node) -> ApplyError:
    return ApplyError(
        f"{node.name}: formatting the KRaft storage failed",
        details="\n".join(node_log.tail(node_log.console(node), 12)),
        resolution="correct the setting or free disk space, then: kcluster up",
    )
