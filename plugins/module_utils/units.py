"""systemd's units: what state they are in, known to systemd, enabled, running."""

from __future__ import annotations

from ansible_collections.kcluster.kafka.plugins.module_utils.guards import pairs

_WORDS = "Id,LoadState,ActiveState,SubState,UnitFileState,NeedDaemonReload,MainPID"


class Units:
    """The units of one host; `run` is AnsibleModule.run_command."""

    def __init__(self, run, names):
        self.run = run
        self.names = names
        self.told = self._ask()

    def running(self, name):
        """Whether its process runs; a unit that systemd will start again in ten seconds does not."""
        told = self.told.get(name, {})
        busy = told.get("ActiveState") in ("active", "reloading")
        return busy or (told.get("ActiveState") == "activating" and told.get("SubState") != "auto-restart")

    def failed(self, name):
        """Whether systemd has given it up, and counts further starts against its limit."""
        return self.told.get(name, {}).get("ActiveState") == "failed"

    def enabled(self, name):
        """Whether it starts with the host."""
        return self.told.get(name, {}).get("UnitFileState") == "enabled"

    def stale(self, name):
        """Whether its file changed since systemd read it."""
        return self.told.get(name, {}).get("NeedDaemonReload") == "yes"

    def make_known(self, changed, to_enable):
        """Let systemd read changed units and start them with the host; enabling reads them all the same."""
        if to_enable:
            self.systemctl("enable", to_enable)
        elif changed:
            self.systemctl("daemon-reload", [])

    def start(self, names):
        """Start units; systemd orders them, and one it had given up gets a new chance."""
        given_up = [name for name in names if self.failed(name)]
        if given_up:
            self.systemctl("reset-failed", given_up)
        self.systemctl("start", names)

    def systemctl(self, verb, names):
        """One call of systemctl; AnsibleModule ends the run when it fails."""
        self.run(["systemctl", verb, *services(names)], check_rc=True)

    def _ask(self):
        command = ["systemctl", "show", "--no-pager", "-p", _WORDS]
        code, out, _ = self.run([*command, *services(self.names)])
        blocks = [pairs(block) for block in out.split("\n\n")] if code == 0 else []
        return {block["Id"].rpartition(".")[0]: block for block in blocks if "Id" in block}


def services(names):
    """Units by their full names."""
    return [f"{name}.service" for name in names]
