"""`python -m kcluster` and the `kcluster` command: what must be done before anything else is imported."""

import os
import sys

# `signal` takes milliseconds, as it imports enum; until the handler is set Ctrl-C is a traceback.
from _signal import SIG_IGN, SIGINT, getsignal, signal  # type: ignore[import-not-found]


def entry() -> None:
    """Run the command line of this process, and exit with its code."""
    if getsignal(SIGINT) != SIG_IGN:  # as with `nohup`
        signal(SIGINT, _end)
    _open_closed_streams()
    from kcluster.app import main

    code = main()
    exec("")  # else `python -m` ends by SIGINT after a KeyboardInterrupt that came within an exec
    sys.exit(code)


def _end(*_: object) -> None:
    """Ctrl-C while Python imports, and when the work is done: there is nothing that must be ended in order."""
    try:
        os.write(2, b"interrupted\n")
    finally:
        os._exit(128 + SIGINT)


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
