"""Wraps a command so that it can be ended from outside, and runs with the rights it needs."""

from __future__ import annotations

import re
from dataclasses import dataclass
from shlex import quote

from kcluster.clients.ssh.login import Login
from kcluster.errors import UnreachableError

PROMPT = b"kcluster-asks-for-the-password:"
_GROUP = re.compile(rb"^kcluster-group (\d+)\n", re.MULTILINE)
_BEGINS = b"kcluster-begins\n"
_REASONS = (
    (re.compile(r"not (found|executable)|No such file"), "there is no sudo", "apt-get install sudo, or log in as root"),
    (
        re.compile(r"password is required"),
        "sudo wants a password for {user}",
        "add -K to be asked for it, or allow {user} in /etc/sudoers.d with NOPASSWD",
    ),
    (
        re.compile(r"not in the sudoers|not allowed to|may not run"),
        "{user} may not use sudo",
        "allow it in /etc/sudoers.d, or name another ansible_user",
    ),
)


@dataclass(frozen=True)
class Wrapped:
    """A command line for the host's login shell, and what to expect before the command itself speaks."""

    line: str
    user: str
    password: str = ""
    """What sudo is told when it asks."""
    sudo: bool = False

    def group(self, said: bytes) -> int | None:
        """The process group on the host, once it is told."""
        found = _GROUP.search(said)
        return int(found[1]) if found else None

    def begun(self, said: bytes) -> bool:
        """Whether the command itself runs now."""
        return _BEGINS in said if self.sudo else bool(_GROUP.search(said))

    def left(self, said: bytes) -> bytes:
        """What the command itself, or else sudo, says on stderr."""
        if self.sudo and _BEGINS in said:  # before that sudo asked, lectured and warned
            return said.partition(_BEGINS)[2]
        return _GROUP.sub(b"", said, count=1).replace(PROMPT, b"")

    def refusal(self, name: str, said: bytes, asked: int) -> UnreachableError:
        """Why sudo did not begin."""
        text = self.left(said).decode(errors="replace").strip()
        if asked > 1:
            return UnreachableError(
                f"{name}: sudo refuses the password of {self.user}",
                resolution=f"give the right one with -K, or allow {self.user} in /etc/sudoers.d with NOPASSWD",
            )
        for pattern, message, resolution in _REASONS:
            if pattern.search(text):
                facts = {"user": self.user}
                return UnreachableError(
                    f"{name}: {message.format(**facts)}", details=text, resolution=resolution.format(**facts)
                )
        return UnreachableError(
            f"{name}: sudo does not begin", details=text, resolution="try it there: sudo -n true; echo $?"
        )


def wrapped(command: str, login: Login, user: str, *, become: bool) -> Wrapped:
    """The command for one host, where we are logged in as `user`."""
    begin = 'echo "kcluster-group $$" >&2; '
    if not (become and login.become) or user == login.become_user:
        return Wrapped(_shell(begin + command), user)
    how = f"-S -p {PROMPT.decode()}" if login.become_password else "-n"
    inner = f"/bin/sh -c {quote('echo kcluster-begins >&2; ' + command)}"
    # In English, so that we understand what it says.
    line = f"LC_ALL=C exec sudo {how} -H -u {quote(login.become_user)} -- {inner}"
    return Wrapped(_shell(begin + line), user, login.become_password, sudo=True)


def ending(group: int) -> str:
    """The command that ends a process group."""
    return f"kill -TERM -{group}"


def _shell(script: str) -> str:
    """For whatever login shell the account has; the process it becomes leads its group."""
    return f"exec /bin/sh -c {quote(script)}"
