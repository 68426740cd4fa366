"""Commands wrapped for hosts: tried with the shell of this machine."""

from __future__ import annotations

import subprocess

import pytest

from kcluster.clients.ssh.login import Login
from kcluster.clients.ssh.sudo import PROMPT, Wrapped, wrapped

BEGUN = b"kcluster-group 77\nkcluster-begins\n"


def test_a_command_tells_its_group_and_keeps_its_quotes() -> None:
    line = wrapped(
        """printf '%s|' "a b" 'c"d' "$((1+1))"; echo err >&2; exit 5""", Login("h1", "h1"), "me", become=False
    )
    done = subprocess.run(["sh", "-c", line.line], capture_output=True, check=False)
    assert (done.returncode, done.stdout) == (5, b'a b|c"d|2|')
    assert line.begun(done.stderr)
    assert line.group(done.stderr)
    assert line.left(done.stderr) == b"err\n"


@pytest.mark.parametrize(
    ("login", "user", "sudo"),
    [
        (Login("h1", "h1"), "me", True),
        (Login("h1", "h1"), "root", False),
        (Login("h1", "h1", become=False), "me", False),
        (Login("h1", "h1", become_user="kafka"), "root", True),
        (Login("h1", "h1", become_user="kafka"), "kafka", False),
    ],
)
def test_sudo_comes_in_only_where_it_is_needed(login: Login, user: str, sudo: bool) -> None:
    line = wrapped("true", login, user, become=True)
    assert line.sudo is sudo
    assert ("sudo -n -H -u " + login.become_user in line.line) is sudo


def test_the_password_is_never_in_the_command() -> None:
    line = wrapped("true", Login("h1", "h1", become_password="geheim"), "me", become=True)
    assert "sudo -S" in line.line
    assert "geheim" not in line.line + repr(Login("h1", "h1", become_password="geheim", password="geheim"))


def test_what_sudo_says_before_the_command_is_not_the_commands() -> None:
    line = Wrapped("", "me", "geheim", sudo=True)
    said = b"kcluster-group 77\nWe trust you ...\n" + PROMPT + b"kcluster-begins\nerr\n"
    assert not line.begun(said[:40])
    assert line.begun(said)
    assert line.left(said) == b"err\n"
    assert Wrapped("", "me", sudo=True).left(BEGUN + b"kcluster-begins\n") == b"kcluster-begins\n"


@pytest.mark.parametrize(
    ("said", "asked", "message"),
    [
        (b"sudo: a password is required\n", 0, "h1: sudo wants a password for me"),
        (b"me is not in the sudoers file.\n", 1, "h1: me may not use sudo"),
        (b"Sorry, user me is not allowed to execute '/bin/sh' as root on h1.\n", 1, "h1: me may not use sudo"),
        (b"/bin/sh: 1: exec: sudo: not found\n", 0, "h1: there is no sudo"),
        (b"Sorry, try again.\n", 2, "h1: sudo refuses the password of me"),
        (b"sudo: /etc/sudo.conf is world writable\n", 0, "h1: sudo does not begin"),
    ],
)
def test_each_refusal_of_sudo_has_its_own_words(said: bytes, asked: int, message: str) -> None:
    problem = Wrapped("", "me", sudo=True).refusal("h1", b"kcluster-group 77\n" + said, asked)
    assert problem.message == message
    assert problem.resolution
