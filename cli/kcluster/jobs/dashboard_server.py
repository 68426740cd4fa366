"""The dashboard's server: one page and two files, for reading only."""

from __future__ import annotations

import base64
import json
import os
import re
import socket
import socketserver
import time
from collections.abc import Callable
from dataclasses import dataclass
from hashlib import sha256
from http import HTTPStatus
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path
from typing import Any

from kcluster import paths
from kcluster.jobs import registry
from kcluster.jobs.job_view import JobView
from kcluster.jobs.registry import Job

LOOK = 0.25
"""Seconds between two looks at the wish to stop."""

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
"""As the browser spells this machine."""

_NOTHING: dict[str, Any] = {"as_of": None, "batch": None, "lag": None, "trucks": []}
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


@dataclass(frozen=True)
class HttpResponse:
    """What a path holds now."""

    kind: str
    body: bytes
    tag: str = ""
    """Changes whenever the body does; empty when it always may."""


class DashboardSource:
    """What there is to see of one job."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.page = (paths.project() / "templates" / "dashboard" / "index.html").read_bytes()
        self.pages: dict[str, Callable[[], HttpResponse]] = {
            "/": lambda: HttpResponse("text/html; charset=utf-8", self.page),
            "/latest.json": self.latest,
            "/state.json": self.state,
        }

    def latest(self) -> HttpResponse:
        """The positions, as the job wrote them; none before it did."""
        try:
            with (Path(self.job.record.sink) / "latest.json").open("rb") as file:
                return HttpResponse("application/json", file.read(), _tag(file.fileno()))
        except FileNotFoundError:
            return _json(_NOTHING)

    def state(self) -> HttpResponse:
        """How the job is."""
        seen = JobView.of(registry.at(self.job.folder) or self.job)  # it may have been submitted again
        told = {name: getattr(seen, name) for name in ("state", "cause", "advice", "batch")}
        return _json({"now": time.time(), "name": self.job.name, "cluster": self.job.record.cluster, **told})

    def policy(self) -> str:
        """What the page may do: run its own script, and ask this server."""
        script, style = (_hash(self.page, word) for word in ("script", "style"))
        return (
            f"default-src 'none'; script-src '{script}'; style-src '{style}'; connect-src 'self'; img-src data:; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )


class DashboardServer(ThreadingHTTPServer):
    """Serves a board at an address until somebody wants it to end."""

    daemon_threads = True
    timeout = LOOK  # of handle_request, so that the wish to end is seen

    def __init__(self, board: DashboardSource, host: str, port: int) -> None:
        self.board = board
        self.policy = board.policy()
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.local = host in ("localhost", "127.0.0.1", "::1")
        super().__init__((host, port), _Handler)

    def server_bind(self) -> None:
        """Take the address; without the look-up of its name that is the default, which may take seconds."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def serve(self, ended: Callable[[], bool]) -> None:
        """Answer until it is to end."""
        with self:
            while not ended():
                self.handle_request()


class _Handler(BaseHTTPRequestHandler):
    """One request."""

    server: DashboardServer
    timeout = 30  # of a connection that asks nothing
    server_version, sys_version = "kcluster", ""

    def do_GET(self) -> None:
        """Answer with what the path holds."""
        if not self._meant():
            return self.send_error(HTTPStatus.MISDIRECTED_REQUEST)
        found = self.server.board.pages.get(self.path.partition("?")[0])
        if found is None:
            return self.send_error(HTTPStatus.NOT_FOUND)
        answer = found()
        if answer.tag and self.headers.get("If-None-Match") == answer.tag:
            return self._send(HTTPStatus.NOT_MODIFIED, answer, b"")
        return self._send(HTTPStatus.OK, answer, answer.body)

    def _meant(self) -> bool:
        """Whether the browser was really sent here; a foreign page can have a name that leads to this machine."""
        host = re.sub(r":\d+$", "", self.headers.get("Host", ""))
        return not self.server.local or host in LOOPBACK

    def _send(self, status: HTTPStatus, answer: HttpResponse, body: bytes) -> None:
        self.send_response(status)
        headers = {"Content-Type": answer.kind, "Content-Security-Policy": self.server.policy, **_HEADERS}
        for name, value in headers.items():
            self.send_header(name, value)
        if answer.tag:
            self.send_header("ETag", answer.tag)
        if status is not HTTPStatus.NOT_MODIFIED:
            self.send_header("Content-Length", str(len(body)))
        self.end_headers()
        self.wfile.write(body)

    def log_message(self, *_: Any) -> None:
        """Keep quiet: a page asks every two seconds."""


def _json(content: Any) -> HttpResponse:
    return HttpResponse("application/json", json.dumps(content).encode())


def _tag(file: int) -> str:
    told = os.fstat(file)
    return f'"{told.st_ino:x}-{told.st_mtime_ns:x}-{told.st_size:x}"'


def _hash(page: bytes, word: str) -> str:
    """The hash by which a browser knows the page's own script or style."""
    (content,) = re.findall(rb"<%b>(.*?)</%b>" % (word.encode(), word.encode()), page, re.S)
    return f"sha256-{base64.b64encode(sha256(content).digest()).decode()}"
