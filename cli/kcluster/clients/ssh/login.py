"""The login at a host, and the result of a command."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Login:
    """The login at one host, out of the inventory; ssh's configuration fills in the rest."""

    name: str
    """The host's name in the inventory."""
    address: str
    """An address, a name, or an alias of ~/.ssh/config."""
    port: int | None = None
    user: str | None = None
    key_file: str | None = None
    password: str = field(default="", repr=False)
    arguments: tuple[str, ...] = ()
    """More arguments for ssh(1), as `ansible_ssh_common_args` has them."""
    become: bool = True
    """Whether commands that need more rights get them through sudo."""
    become_user: str = "root"
    become_password: str = field(default="", repr=False)


@dataclass(frozen=True)
class CommandResult:
    """The output of a command, and its exit code."""

    code: int
    stdout: str
    stderr: str
