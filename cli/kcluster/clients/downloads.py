"""HTTP downloads that resume where they stopped."""

from __future__ import annotations

import errno
from http.client import HTTPException, HTTPResponse
from pathlib import Path
from typing import cast
from urllib.error import HTTPError, URLError
from urllib.request import Request, urlopen

from kcluster.errors import UnreachableError
from kcluster.results import Meter

NO_SPACE = (errno.ENOSPC, errno.EDQUOT, errno.EFBIG)
"""The error numbers of a full disk or quota."""

_CHUNK = 1 << 18
_ANSWER_WITHIN = 15.0
_ATTEMPTS = 3


def text(url: str) -> str | None:
    """The text at a URL, 64 KiB at most; None for 404 and 410, UnreachableError for any other failure."""
    try:
        with _open(url) as response:
            if url.startswith("https:") and not response.url.startswith("https:"):
                raise ConnectionError(f"it leads to {response.url}, where anyone on the way can change the answer")
            return response.read(1 << 16).decode("utf-8", "replace")
    except HTTPError as problem:
        problem.close()
        if problem.code in (404, 410):
            return None
        raise _unreachable(url, problem) from problem
    except (OSError, HTTPException) as problem:
        raise _unreachable(url, problem) from problem


def download(url: str, part: Path, meter: Meter) -> None:
    """Download a file to `part`, resuming after the bytes already there; UnreachableError when that fails."""
    for attempt in range(1, _ATTEMPTS + 1):
        before = _size(part)
        try:
            return _resume(url, part, meter)
        except HTTPError as problem:
            problem.close()
            raise _unreachable(url, problem) from problem
        except (OSError, HTTPException) as problem:
            if isinstance(problem, OSError) and problem.errno in NO_SPACE:
                raise
            if attempt == _ATTEMPTS or _size(part) == before:
                raise _unreachable(url, problem) from problem
    return None


def _resume(url: str, part: Path, meter: Meter) -> None:
    start = _size(part)
    try:
        response = _open(url, start)
    except HTTPError as problem:
        if problem.code == 416 and start:
            problem.close()
            return  # `part` is complete; its hash is checked later
        raise
    with response:
        if response.status != 206:
            start = 0  # the server ignores ranges and sends the whole file
        length = response.headers["Content-Length"]
        _write(response, part, start, start + int(length) if length else None, meter)


def _write(response: HTTPResponse, part: Path, start: int, total: int | None, meter: Meter) -> None:
    done = start
    with part.open("r+b" if start else "wb") as file:
        file.seek(start)
        while chunk := response.read(_CHUNK):
            file.write(chunk)
            done += len(chunk)
            meter(done, total, "B")
    if total is not None and done < total:
        raise ConnectionError(f"the connection ended after {done} of {total} bytes")


def _open(url: str, start: int = 0) -> HTTPResponse:
    headers = {"User-Agent": "kcluster", "Accept-Encoding": "identity"}
    if start:
        headers["Range"] = f"bytes={start}-"
    return cast(HTTPResponse, urlopen(Request(url, headers=headers), timeout=_ANSWER_WITHIN))


def _size(part: Path) -> int:
    return part.stat().st_size if part.exists() else 0


def _unreachable(url: str, problem: Exception) -> UnreachableError:
    if isinstance(problem, HTTPError):
        return UnreachableError(f"{url} answered {problem.code} {problem.reason}")
    cause = problem.reason if isinstance(problem, URLError) else problem
    reason = cause.strerror if isinstance(cause, OSError) and cause.strerror else cause
    return UnreachableError(f"{url} cannot be reached: {reason or type(problem).__name__}")
