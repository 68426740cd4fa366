"""How far a process that does not listen yet has come: a broker loads all its logs before it does."""

from __future__ import annotations

import os
import re

from ansible_collections.kcluster.kafka.plugins.module_utils.files import read

_TAIL = 1 << 18
_BEGIN = "Loading logs from log dirs"
_LOADED = re.compile(r"\((\d+)/(\d+) completed in ([^)]+)\)")
_SEGMENTS = re.compile(r"Recovering unflushed segment \S+ (\d+)/(\d+) recovered for (\S+?)\.?(?:\s|$)")


def recovery(pid: int, log: str) -> dict[str, str]:
    """What its log says of the logs that it loads, for people, and a mark that changes as long as it gets on."""
    text = loading(tail(log))
    return {"text": text, "mark": f"{text} {read_megabytes(read(f'/proc/{pid}/io') or '')} MB"}


def loading(lines: str) -> str:
    """How many partitions of each directory are loaded since the last start, and segments of the last one."""
    since = lines.rpartition(_BEGIN)[2]
    dirs = {
        folder: f"{done} of {all_} partitions of {folder} are loaded" for done, all_, folder in _LOADED.findall(since)
    }
    segments = [f"{done} of {all_} segments of {name} are recovered" for done, all_, name in _SEGMENTS.findall(since)]
    return ", ".join([*dirs.values(), *segments[-1:]])


def tail(path: str) -> str:
    """The end of a log; nothing when it cannot be read."""
    try:
        with open(path, "rb") as log:
            log.seek(max(0, os.fstat(log.fileno()).st_size - _TAIL))
            return log.read().decode(errors="replace")
    except OSError:
        return ""


def read_megabytes(io: str) -> int:
    """What a process has read so far: a large segment takes minutes without a line in the log."""
    return next((int(line.split()[1]) >> 20 for line in io.splitlines() if line.startswith("rchar:")), 0)
