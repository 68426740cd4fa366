"""The read-only HTTP server of the dashboard: one page and two JSON files."""

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

POLL = 0.25
"""Seconds between two checks of the request to stop."""

LOOPBACK = ("localhost", "127.0.0.1", "[::1]")
"""The names of this machine in a Host header."""

_NO_POSITIONS: dict[str, Any] = {"as_of": None, "batch": None, "lag": None, "trucks": []}
_HEADERS = {
    "Cache-Control": "no-store",
    "Cross-Origin-Resource-Policy": "same-origin",
    "Referrer-Policy": "no-referrer",
    "X-Content-Type-Options": "nosniff",
}


@dataclass(frozen=True)
class HttpResponse:
    """The response of a path."""

    kind: str
    body: bytes
    tag: str = ""
    """The ETag, which changes with the body; empty for none."""


class DashboardSource:
    """The page and the JSON files of one job."""

    def __init__(self, job: Job) -> None:
        self.job = job
        self.page = (paths.project() / "templates" / "dashboard" / "index.html").read_bytes()
        self.pages: dict[str, Callable[[], HttpResponse]] = {
            "/": lambda: HttpResponse("text/html; charset=utf-8", self.page),
            "/latest.json": self.latest,
            "/state.json": self.state,
        }

    def latest(self) -> HttpResponse:
        """The positions that the job wrote; empty before its first batch."""
        try:
            with (Path(self.job.record.sink) / "latest.json").open("rb") as file:
                return HttpResponse("application/json", file.read(), _tag(file.fileno()))
        except FileNotFoundError:
            return _json(_NO_POSITIONS)

    def state(self) -> HttpResponse:
        """The state of the job."""
        view = JobView.of(registry.load_job(self.job.folder) or self.job)  # it may have been submitted again
        reported = {name: getattr(view, name) for name in ("state", "cause", "advice", "batch")}
        return _json({"now": time.time(), "name": self.job.name, "cluster": self.job.record.cluster, **reported})

    def policy(self) -> str:
        """The Content-Security-Policy: the page's own script and style, and requests to this server."""
        script, style = (_hash(self.page, tag) for tag in ("script", "style"))
        return (
            f"default-src 'none'; script-src '{script}'; style-src '{style}'; connect-src 'self'; img-src data:; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )


class DashboardServer(ThreadingHTTPServer):
    """Serves a source at an address until it is stopped."""

    daemon_threads = True
    timeout = POLL  # of handle_request, so that a request to stop is noticed

    def __init__(self, source: DashboardSource, host: str, port: int) -> None:
        self.source = source
        self.policy = source.policy()
        self.address_family = socket.AF_INET6 if ":" in host else socket.AF_INET
        self.local = host in ("localhost", "127.0.0.1", "::1")
        super().__init__((host, port), _Handler)

    def server_bind(self) -> None:
        """Bind the address without the default reverse lookup, which may take seconds."""
        socketserver.TCPServer.server_bind(self)
        self.server_name, self.server_port = str(self.server_address[0]), int(self.server_address[1])

    def serve(self, ended: Callable[[], bool]) -> None:
        """Handle requests until `ended` returns true."""
        with self:
            while not ended():
                self.handle_request()


class _Handler(BaseHTTPRequestHandler):
    """One request."""

    server: DashboardServer
    timeout = 30  # of an idle connection
    server_version, sys_version = "kcluster", ""

    def do_GET(self) -> None:
        """Answer with the response of the path."""
        if not self._is_for_this_server():
            return self.send_error(HTTPStatus.MISDIRECTED_REQUEST)
        page = self.server.source.pages.get(self.path.partition("?")[0])
        if page is None:
            return self.send_error(HTTPStatus.NOT_FOUND)
        answer = page()
        if answer.tag and self.headers.get("If-None-Match") == answer.tag:
            return self._send(HTTPStatus.NOT_MODIFIED, answer, b"")
        return self._send(HTTPStatus.OK, answer, answer.body)

    def _is_for_this_server(self) -> bool:
        """Whether the Host header is this server's: a foreign name may resolve to this machine (DNS rebinding)."""
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
        """No log: a page sends a request every two seconds."""


def _json(content: Any) -> HttpResponse:
    return HttpResponse("application/json", json.dumps(content).encode())


def _tag(file: int) -> str:
    status = os.fstat(file)
    return f'"{status.st_ino:x}-{status.st_mtime_ns:x}-{status.st_size:x}"'


def _hash(page: bytes, tag: str) -> str:
    """The hash by which a browser knows the page's own script or style."""
    (content,) = re.findall(rb"<%b>(.*?)</%b>" % (tag.encode(), tag.encode()), page, re.S)
    return f"sha256-{base64.b64encode(sha256(content).digest()).decode()}"
