"""The logs of nodes on hosts: their last lines, and those that are still to come, over the kept connections."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import ExitStack
from queue import SimpleQueue
from threading import Thread
from typing import TYPE_CHECKING, Any

from kcluster.clients import host_scripts
from kcluster.config import file_paths
from kcluster.errors import KclusterError, RefusedError, UnreachableError
from kcluster.local.node_log import main_log
from kcluster.model.cluster import Cluster
from kcluster.model.node import Node
from kcluster.operations.logs.log_lines import LogLine, LogLines
from kcluster.rollout.node_selection import select_nodes

if TYPE_CHECKING:
    from kcluster.clients.ssh import CommandResult, Connections, Login


def remote(
    cluster: Cluster, logins: Mapping[str, Login], node: str | None, lines: int, *, follow: bool, journal: bool
) -> LogLines:
    """The last lines of one node, of the nodes of one host, or of all nodes interleaved by time.

    A host that cannot be asked is a problem in the result; raised when no host can. With `follow` the connections
    stay open until the new lines in the result have been read.
    """
    from kcluster.clients.ssh import Connections  # lazily: local clusters need no SSH

    nodes = select_nodes(cluster, [node] if node else [])
    with ExitStack() as stack:
        hosts = stack.enter_context(Connections(logins))
        result = _read(hosts, nodes, lines, follow=follow, journal=journal)
        if follow:
            stack.pop_all()  # the new lines close them
    return result


def _read(hosts: Connections, nodes: Sequence[Node], lines: int, *, follow: bool, journal: bool) -> LogLines:
    queries = {
        host: {"nodes": [_query(node) for node in nodes if node.host.name == host], "lines": lines, "journal": journal}
        for host in dict.fromkeys(node.host.name for node in nodes)
    }
    scripts = {host: host_scripts.program("read_logs", query, function="last") for host, query in queries.items()}
    answers = hosts.run(host_scripts.COMMAND, stdin=scripts, only=list(queries), become=True)
    parsed = {host: _parsed(host, answer) for host, answer in answers.items()}
    problems = [logs for logs in parsed.values() if isinstance(logs, KclusterError)]
    if len(problems) == len(queries):
        raise problems[0]
    by_host = {host: logs for host, logs in parsed.items() if not isinstance(logs, KclusterError)}
    log_lines = [
        LogLine(name, text) for logs in by_host.values() for name, log in logs.items() for text in log["lines"]
    ]
    return LogLines.of(nodes, log_lines, lines, _following(hosts, queries, by_host) if follow else None, problems)


def _query(node: Node) -> dict[str, Any]:
    return {"name": node.name, "path": str(main_log(node)), "unit": file_paths.UNITS[node.kind]}


def _parsed(host: str, answer: CommandResult | KclusterError) -> dict[str, Any] | KclusterError:
    if isinstance(answer, KclusterError):
        return answer
    if answer.code:
        return RefusedError(
            f"{host}: the logs cannot be read: python3 ended with {answer.code}",
            details=answer.stderr.strip()[-2000:],
            resolution=f"ssh {host} python3 --version; it has to be 3.8 or newer",
        )
    return dict(json.loads(answer.stdout.splitlines()[-1]))


def _following(
    hosts: Connections, queries: Mapping[str, dict[str, Any]], by_host: Mapping[str, dict[str, Any]]
) -> Callable[[], Iterator[LogLine]]:
    """The lines that the nodes write after those that were read."""
    scripts = {
        host: host_scripts.program("read_logs", _continued(queries[host], logs), function="follow")
        for host, logs in by_host.items()
    }
    return lambda: _new_lines(hosts, scripts)


def _continued(query: Mapping[str, Any], logs: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The query for the lines after an answer."""
    ends = {name: {key: log[key] for key in log if key != "lines"} for name, log in logs.items()}
    return {**query, "nodes": [{**node, **ends[node["name"]]} for node in query["nodes"]]}


def _new_lines(hosts: Connections, scripts: Mapping[str, str]) -> Iterator[LogLine]:
    """New lines of all hosts as they come; of a lost host its error is a line, of the last one it is raised."""
    arrived: SimpleQueue[LogLine | KclusterError] = SimpleQueue()
    with hosts:
        for host, script in scripts.items():
            # Daemons: at Ctrl-C the connections are closed, and a host that does not answer is not waited for.
            Thread(target=_follow, args=(hosts, host, script, arrived.put), daemon=True).start()
        following = len(scripts)
        while following:
            line = arrived.get()
            if isinstance(line, LogLine):
                yield line
                continue
            following -= 1
            if not following:
                raise line
            yield LogLine("", line.message)


def _follow(hosts: Connections, host: str, script: str, put: Callable[[LogLine | KclusterError], None]) -> None:
    """Put each line of a host, and in the end the error that ended it."""
    try:
        with hosts.start(host, host_scripts.COMMAND, become=True) as running:
            running.finish(script)
            for chunk in running.lines():
                if chunk.text and not chunk.error:
                    put(LogLine(*json.loads(chunk.text)))
        put(UnreachableError(f"{host}: the log stream ended", resolution=f"check the host: ssh {host} uptime"))
    except KclusterError as problem:
        put(problem)
