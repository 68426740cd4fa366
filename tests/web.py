"""A web server of the tests' own on 127.0.0.1: files with ranges, and the faults that real servers have."""

from __future__ import annotations

import threading
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass, field
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer


@dataclass
class Web:
    """What the server has, and what it was asked."""

    url: str = ""
    files: dict[str, bytes] = field(default_factory=dict)
    cut_after: list[int] = field(default_factory=list)
    """The connection of the next answer ends after so many bytes; one entry for each answer."""
    ranges: bool = True
    asked: list[tuple[str, str]] = field(default_factory=list)
    """Each request's path and Range header."""


@contextmanager
def serving() -> Iterator[Web]:
    """Run a server as long as the test needs it."""
    web = Web()

    class Handler(BaseHTTPRequestHandler):
        def do_GET(self) -> None:
            _answer(self, web)

        def log_message(self, format: str, *args: object) -> None:
            """Stay quiet."""

    server = ThreadingHTTPServer(("127.0.0.1", 0), Handler)
    thread = threading.Thread(target=server.serve_forever, args=(0.01,))
    thread.start()
    web.url = f"http://127.0.0.1:{server.server_port}"
    try:
        yield web
    finally:
        server.shutdown()
        thread.join()
        server.server_close()


def _answer(request: BaseHTTPRequestHandler, web: Web) -> None:
    wanted = request.headers.get("Range", "")
    web.asked.append((request.path, wanted))
    content = web.files.get(request.path)
    if content is None:
        return request.send_error(404)
    start = int(wanted.removeprefix("bytes=").rstrip("-")) if wanted and web.ranges else 0
    if start and start >= len(content):
        return request.send_error(416)
    request.send_response(206 if start else 200)
    request.send_header("Content-Length", str(len(content) - start))
    request.end_headers()
    end = start + web.cut_after.pop(0) if web.cut_after else len(content)
    request.wfile.write(content[start:end])
    return None
