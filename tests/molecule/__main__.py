"""`./run molecule`: each scenario, or those named, on hosts of its own; 1 when one fails."""

from __future__ import annotations

import os
import subprocess
import sys
import time
import uuid
from pathlib import Path
from tempfile import TemporaryDirectory

from kcluster.clients.ansible.run_environment import collections
from tests.lab.lab import Lab
from tests.lab.machine import labs

HERE = Path(__file__).parent
PROJECT = HERE.parents[1]


def scenarios() -> dict[str, Path]:
    """The folder of each scenario: those of roles by the role's name, the others by their own."""
    roles = {folder.parents[1].name: folder for folder in PROJECT.glob("roles/*/molecule/default")}
    return {**roles, **{folder.name: folder for folder in PROJECT.glob("extensions/molecule/*")}}


def run(scenario: Path, lab: str) -> int:
    """Let molecule go through a scenario; whatever it says, its lab and its files are gone then."""
    program = str(Path(sys.executable).with_name("molecule"))
    command = [program, "--base-config", str(HERE / "base.yml"), "test", "--scenario-name", scenario.name]
    with TemporaryDirectory(prefix="kcluster-molecule-") as folder:
        try:
            return subprocess.run(command, cwd=folder, env=environment(scenario, lab, folder)).returncode
        finally:
            if (labs() / lab).exists():
                Lab.load(lab).down()


def environment(scenario: Path, lab: str, folder: str) -> dict[str, str]:
    """What molecule and its playbooks find out about this run; nothing is written into the clone."""
    return {
        **os.environ,
        "PATH": f"{Path(sys.executable).parent}:{os.environ.get('PATH', os.defpath)}",
        "PYTHONPATH": f"{PROJECT}:{PROJECT / 'cli'}",
        "ANSIBLE_COLLECTIONS_PATH": str(collections()),
        "ANSIBLE_FORCE_COLOR": "false",  # molecule and unchanged.yml read the last lines of what Ansible says
        # This one file: with extensions/molecule in its path, molecule would look for a scenario `default` besides.
        "MOLECULE_GLOB": f"{scenario.parents[1]}/./molecule/{scenario.name}/molecule.yml",
        "MOLECULE_PROJECT_DIRECTORY": folder,
        "MOLECULE_EPHEMERAL_DIRECTORY": f"{folder}/run",
        "LAB_NAME": lab,
        "LAB_OWNER": str(os.getpid()),
        "LAB_PLAYBOOKS": str(HERE),
    }


def main(words: list[str]) -> int:
    """Run the scenarios that are named, or all."""
    found = scenarios()
    if unknown := sorted(set(words) - set(found)):
        print(f"error: no scenario {', '.join(unknown)}\n  try: {', '.join(sorted(found))}", file=sys.stderr)
        return 2
    failed = 0
    for name in words or sorted(found):
        began = time.monotonic()
        code = run(found[name], f"m{uuid.uuid4().hex[:8]}")
        print(f"{name}: {'failed' if code else 'holds'} after {time.monotonic() - began:.0f} s", file=sys.stderr)
        failed |= code
    return int(bool(failed))


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
