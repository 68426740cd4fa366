"""How a host is entered, and what it answers."""

from __future__ import annotations

from dataclasses import dataclass, field


@dataclass(frozen=True)
class Login:
    """What the inventory says about entering one host; what it leaves out is ssh's own configuration."""

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
    """What a command said, and the code it ended with."""

    code: int
    stdout: str
    stderr: str
