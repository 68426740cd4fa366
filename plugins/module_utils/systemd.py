"""systemd's units: their state, and reading, enabling and starting them."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any, Dict

from ansible_collections.kcluster.kafka.plugins.module_utils.files import pairs

SHOW = ("systemctl", "show", "--no-pager", "-p")
_PROPERTIES = "Id,LoadState,ActiveState,SubState,UnitFileState,NeedDaemonReload,MainPID"

Run = Callable[..., Any]
States = Dict[str, Dict[str, str]]


class Units:
    """The units of one host; `run` is AnsibleModule.run_command."""

    def __init__(self, run: Run, names: list[str]) -> None:
        self.run = run
        self.names = names
        self.states = self._show()

    def running(self, name: str) -> bool:
        """Whether its process runs; a unit that systemd will start again in ten seconds does not."""
        state = self.states.get(name, {})
        busy = state.get("ActiveState") in ("active", "reloading")
        return busy or (state.get("ActiveState") == "activating" and state.get("SubState") != "auto-restart")

    def failed(self, name: str) -> bool:
        """Whether systemd has given it up, and counts further starts against its limit."""
        return self.states.get(name, {}).get("ActiveState") == "failed"

    def enabled(self, name: str) -> bool:
        """Whether it starts with the host."""
        return self.states.get(name, {}).get("UnitFileState") == "enabled"

    def stale(self, name: str) -> bool:
        """Whether its file changed since systemd read it."""
        return self.states.get(name, {}).get("NeedDaemonReload") == "yes"

    def make_known(self, changed: bool, to_enable: list[str]) -> None:
        """Let systemd read changed units and start them with the host; enabling reads them all the same."""
        if to_enable:
            self.systemctl("enable", to_enable)
        elif changed:
            self.systemctl("daemon-reload", [])

    def start(self, names: list[str]) -> None:
        """Start units; systemd orders them, and one it had given up gets a new chance."""
        given_up = [name for name in names if self.failed(name)]
        if given_up:
            self.systemctl("reset-failed", given_up)
        self.systemctl("start", names)

    def systemctl(self, verb: str, names: list[str]) -> None:
        """One call of systemctl; AnsibleModule ends the run when it fails."""
        self.run(["systemctl", verb, *services(names)], check_rc=True)

    def _show(self) -> States:
        code, out, _ = self.run([*SHOW, _PROPERTIES, *services(self.names)])
        return states(out) if code == 0 else {}


def states(shown: str) -> States:
    """The properties of each unit, by its name without the suffix, out of what `systemctl show` prints."""
    blocks = [pairs(block) for block in shown.split("\n\n")]
    return {block["Id"].rpartition(".")[0]: block for block in blocks if "Id" in block}


def services(names: list[str]) -> list[str]:
    """Units by their full names."""
    return [f"{name}.service" for name in names]
