"""Starts ansible-playbook so that it ends when its parent does: python launch.py PARENT'S-PID ARGUMENTS."""

from __future__ import annotations

import ctypes
import os
import signal
import sys

_PR_SET_PDEATHSIG = 1


def main() -> None:
    """Ask the kernel for SIGTERM when the parent is gone, then be ansible-playbook."""
    parent = int(sys.argv.pop(1))
    # Ansible passes SIGTERM on to its workers; after SIGKILL they would work on.
    ctypes.CDLL(None).prctl(_PR_SET_PDEATHSIG, signal.SIGTERM)
    if os.getppid() != parent:  # it went before the kernel knew
        sys.exit(1)
    sys.argv[0] = "ansible-playbook"
    from ansible.cli.playbook import main as playbook

    playbook()


if __name__ == "__main__":
    main()
