"""How a package gets into the Python that runs kcluster: the command to advise."""

from __future__ import annotations

import shlex
import sys
from importlib.util import find_spec


def install(requirement: str, *, again: bool = False) -> str:
    """The command that installs a requirement into this Python; `again`: over the damaged files of the same version."""
    python = shlex.quote(sys.executable)
    if find_spec("pip"):
        return f"{python} -m pip install {'--force-reinstall --no-deps ' if again else ''}{requirement}"
    # Environments that uv makes have no pip.
    return f"uv pip install --python {python} {'--reinstall --no-deps ' if again else ''}{requirement}"
