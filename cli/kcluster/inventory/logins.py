"""The SSH login of each host, from Ansible's connection variables."""

from __future__ import annotations

import os
from pathlib import Path
from typing import TYPE_CHECKING

from kcluster.errors import InventoryError
from kcluster.inventory import vault
from kcluster.inventory.levels import HostLevels, Tree

if TYPE_CHECKING:
    from kcluster.clients.ssh import Login
    from kcluster.inventory import Loaded

_NO = ("false", "no", "off", "0", "n", "f")


def logins(loaded: Loaded, become_password: str = "") -> dict[str, Login]:
    """The login of every host by its name; `become_password` is the sudo password where the inventory has none.

    InventoryError for templates and settings that kcluster does not support.
    """
    reader = _Reader(loaded.path)
    return {name: reader.login(member, become_password) for name, member in Tree(loaded.data).members.items()}


class _Reader:
    """Reads the connection variables of one inventory."""

    def __init__(self, path: Path) -> None:
        self.path = path

    def login(self, member: HostLevels, become_password: str) -> Login:
        from kcluster.clients.ssh import Login  # lazily, as shlex below: most commands need no SSH

        def value(*variables: str, default: str = "") -> str:
            return next((text for each in variables if (text := self._value(member, each))), default)

        method = value("ansible_become_method", default="sudo")
        if method not in ("sudo", "ansible.builtin.sudo"):
            raise InventoryError(
                f"ansible_become_method of {member.name} is {method}: kcluster supports sudo only",
                resolution="remove it, or log in as root",
            )
        return Login(
            name=member.name,
            address=value("ansible_ssh_host", "ansible_host", default=member.name),
            port=self._port(member, value("ansible_ssh_port", "ansible_port")),
            user=value("ansible_ssh_user", "ansible_user") or None,
            key_file=self._key_file(value("ansible_ssh_private_key_file", "ansible_private_key_file")),
            password=value("ansible_ssh_password", "ansible_ssh_pass", "ansible_password"),
            arguments=self._arguments(member),
            become=value("ansible_become").lower() not in _NO,
            become_user=value("ansible_become_user", default="root"),
            become_password=value(
                "ansible_become_password", "ansible_become_pass", "ansible_sudo_pass", default=become_password
            ),
        )

    def _arguments(self, member: HostLevels) -> tuple[str, ...]:
        import shlex

        words: list[str] = []
        for variable in ("ansible_ssh_args", "ansible_ssh_common_args", "ansible_ssh_extra_args"):
            try:
                words += shlex.split(self._value(member, variable))
            except ValueError as problem:
                raise InventoryError(
                    f"{variable} of {member.name} is not valid shell syntax: {problem}", resolution="close its quotes"
                ) from problem
        checking = self._value(member, "ansible_ssh_host_key_checking") or self._value(
            member, "ansible_host_key_checking"
        )
        return (*(("-o", "StrictHostKeyChecking=no") if checking.lower() in _NO else ()), *words)

    def _port(self, member: HostLevels, port: str) -> int | None:
        if port and not port.isdecimal():
            raise InventoryError(
                f"ansible_port of {member.name} is {port!r}, not a number",
                resolution="set a number from 1 to 65535",
            )
        return int(port) if port else None

    def _key_file(self, path: str) -> str | None:
        return os.path.expanduser(path) if path else None

    def _value(self, member: HostLevels, variable: str) -> str:
        """A variable decrypted and as text; empty when it is not set."""
        if template := member.unevaluated(variable):
            raise InventoryError(
                f"{variable} of {member.name}: {template.shown} has no value: {template.problem}",
                resolution=template.resolution,
            )
        value = vault.in_clear(member.written(variable), self.path)
        return "" if value is None else str(value)
