"""Vaulted values of our words are opened as they were meant."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kcluster.config.escaping import masked
from kcluster.inventory import vault
from kcluster.plan import file_diff
from kcluster.render import Role


def vaulted(text: str) -> dict[str, str]:
    return {"__ansible_vault": text}


def opened(**words: Any) -> dict[str, Any]:
    data = {"all": {"vars": words}, "_meta": {"hostvars": {}}}
    return dict(vault.decrypted(data, Path("hosts.yml"))["all"]["vars"])


@pytest.fixture(autouse=True)
def _no_ansible(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kcluster.clients.ansible.decrypt", lambda text: text)


def test_one_line_break_at_the_end_is_of_the_shell_and_not_of_the_password() -> None:
    config = {"ssl.key.password": vaulted("pw\n"), "ssl.keystore.password": vaulted("two\n\n"), "plain": "pw\n"}
    assert opened(spark_secret=vaulted("s\n"), kafka_config=config) == {
        "spark_secret": "s",
        "kafka_config": {"ssl.key.password": "pw", "ssl.keystore.password": "two\n", "plain": "pw\n"},
    }


def test_what_is_vaulted_is_secret_whatever_its_name() -> None:
    name, variable = "my.plugin.vaulted.here", "VAULTED_HERE"
    before, after = f"{name}=old\nx=1\n", f"{name}=new\nx=2\n"
    assert "+my.plugin.vaulted.here=new" in file_diff.difference(Role.CONFIG, before, after)
    opened(kafka_config={name: vaulted("new"), "x": 2}, kafka_environment={variable: vaulted("new"), "PLAIN": "p"})
    assert file_diff.difference(Role.CONFIG, before, after).partition("\n")[2] == f" {name}=********\n-x=1\n+x=2"
    assert (masked(variable, "new"), masked("PLAIN", "p")) == ("********", "p")
