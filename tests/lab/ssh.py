"""How hosts are reached: the lab's own key and known hosts, nothing of the user's."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.lab.machine import attempt, run


@dataclass(frozen=True)
class Ssh:
    """The way to one host."""

    namespace: str
    address: str
    key: Path
    known_hosts: Path

    @property
    def options(self) -> list[str]:
        """What ssh must know beside user, address and key; an inventory carries it too."""
        files = (f"UserKnownHostsFile={self.known_hosts}", "GlobalKnownHostsFile=/dev/null")
        settings = (*files, "StrictHostKeyChecking=yes", "IdentitiesOnly=yes", "LogLevel=ERROR")
        return [word for setting in settings for word in ("-o", setting)]

    def command(self, *words: str, user: str = "root", connect: int = 5) -> list[str]:
        """The whole line that runs a command on the host; without one, a session."""
        own = ["-F", "/dev/null", "-i", str(self.key), "-o", "BatchMode=yes", "-o", f"ConnectTimeout={connect}"]
        return ["ip", "netns", "exec", self.namespace, "ssh", *own, *self.options, f"{user}@{self.address}", *words]

    def run(self, command: str, *, user: str = "root", input: str = "") -> str:
        """Run a shell line on the host and give what it said."""
        return run(*self.command(command, user=user), input=input)

    def answers(self, seconds: int = 1) -> bool:
        """Whether the host lets us in and runs something."""
        return attempt("timeout", "-k", "1", str(seconds), *self.command("true", connect=seconds))
