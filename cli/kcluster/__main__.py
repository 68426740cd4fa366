"""`python -m kcluster` and the `kcluster` command: what must be done before anything else is imported."""

from __future__ import annotations

import os
import sys

from kcluster import interrupt


def entry() -> None:
    """Run the command line of this process, and exit with its code."""
    interrupt.end_at_once()
    _open_closed_streams()
    from kcluster.app import main  # not before: it takes a tenth of a second, in which Ctrl-C may come

    sys.exit(main())


def _open_closed_streams() -> None:
    """Make closed streams (`>&-`) empty ones; else they are None, and the next opened file gets their number."""
    while (opened := os.open(os.devnull, os.O_RDWR)) <= 2:
        os.set_inheritable(opened, True)
    os.close(opened)
    sys.stdin = sys.stdin or os.fdopen(0)
    sys.stdout = sys.stdout or os.fdopen(1, "w")
    sys.stderr = sys.stderr or os.fdopen(2, "w")


if __name__ == "__main__":
    entry()
