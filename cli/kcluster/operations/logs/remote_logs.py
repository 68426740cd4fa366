"""The logs of nodes on hosts: their last lines, and those that are still to come, over the kept connections."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator, Mapping
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
    from kcluster.clients.ssh import CommandResult, Connections


def remote(
    cluster: Cluster, hosts: Connections, node: str | None, lines: int, *, follow: bool, journal: bool
) -> LogLines:
    """The last lines of one node, of the nodes of one host, or of all nodes interleaved by time.

    With `follow` the connections must stay open until the lines that come have been read.
    """
    nodes = select_nodes(cluster, [node] if node else [])
    asked = {
        host: {"nodes": [_asked(each) for each in nodes if each.host.name == host], "lines": lines, "journal": journal}
        for host in dict.fromkeys(each.host.name for each in nodes)
    }
    texts = {host: host_scripts.program("read_logs", question, function="last") for host, question in asked.items()}
    answers = hosts.run(host_scripts.COMMAND, stdin=texts, only=list(asked), become=True)
    told = {host: _understood(host, answer) for host, answer in answers.items()}
    problems = [found for found in told.values() if isinstance(found, KclusterError)]
    if len(problems) == len(asked):
        raise problems[0]
    said = {host: found for host, found in told.items() if not isinstance(found, KclusterError)}
    found = [LogLine(name, text) for of_host in said.values() for name, one in of_host.items() for text in one["lines"]]
    return LogLines.of(nodes, found, lines, _following(hosts, asked, said) if follow else None, problems)


def _asked(node: Node) -> dict[str, Any]:
    return {"name": node.name, "path": str(main_log(node)), "unit": file_paths.UNITS[node.kind]}


def _understood(host: str, answer: CommandResult | KclusterError) -> dict[str, Any] | KclusterError:
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
    hosts: Connections, asked: Mapping[str, dict[str, Any]], said: Mapping[str, dict[str, Any]]
) -> Callable[[], Iterator[LogLine]]:
    """Whatever the nodes write after their last lines."""
    texts = {
        host: host_scripts.program("read_logs", _after(asked[host], found), function="follow")
        for host, found in said.items()
    }
    return lambda: _coming(hosts, texts)


def _after(question: Mapping[str, Any], said: Mapping[str, Mapping[str, Any]]) -> dict[str, Any]:
    """The question for what comes after an answer."""
    ends = {name: {key: found[key] for key in found if key != "lines"} for name, found in said.items()}
    return {**question, "nodes": [{**node, **ends[node["name"]]} for node in question["nodes"]]}


def _coming(hosts: Connections, texts: Mapping[str, str]) -> Iterator[LogLine]:
    """The lines of all hosts as they come; a host that is lost says so, and the others go on."""
    arrived: SimpleQueue[LogLine | KclusterError] = SimpleQueue()
    for host, text in texts.items():
        # Daemons: at Ctrl-C the connections are closed, and nobody waits for a host that does not answer.
        Thread(target=_follow, args=(hosts, host, text, arrived.put), daemon=True).start()
    left = len(texts)
    while left:
        came = arrived.get()
        if isinstance(came, LogLine):
            yield came
            continue
        left -= 1
        if not left:
            raise came
        yield LogLine("", came.message)


def _follow(hosts: Connections, host: str, text: str, tell: Callable[[LogLine | KclusterError], None]) -> None:
    """Tell each line of a host, and in the end why there are no more."""
    try:
        with hosts.start(host, host_scripts.COMMAND, become=True) as running:
            running.finish(text)
            for piece in running.lines():
                if piece.text and not piece.error:
                    tell(LogLine(*json.loads(piece.text)))
        tell(UnreachableError(f"{host}: its lines have ended", resolution="look whether the host still answers"))
    except KclusterError as problem:
        tell(problem)
