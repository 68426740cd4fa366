"""The SSH session that a script runs in: its first process, and its end."""

from __future__ import annotations

import os
import threading
import time

from ansible_collections.kcluster.kafka.plugins.module_utils.files import read

PARENT, STARTED = 1, 19
"""Which of the fields of `/proc/PID/stat`, counted from the one after the name."""
GLANCE_SECONDS = 0.1


def first_process() -> list[str]:
    """The fields of the process that sshd started for this session; none without sshd, or without a connection."""
    process = os.getpid()
    while process > 1:
        fields = (read(f"/proc/{process}/stat") or "").rpartition(")")[2].split()
        if not fields:
            break
        process = int(fields[PARENT])
        if (read(f"/proc/{process}/comm") or "").startswith("sshd"):
            return fields
    return []


def end_with_it() -> None:
    """End this process when its connection is gone; sshd itself ends no program that has no terminal."""
    if first_process():
        threading.Thread(target=_wait, daemon=True).start()


def _wait() -> None:
    while first_process():
        time.sleep(GLANCE_SECONDS)
    os._exit(1)
