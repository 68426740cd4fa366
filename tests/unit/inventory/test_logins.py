"""Logins from Ansible's own variables."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from kcluster import inventory
from kcluster.clients.ssh import Login
from kcluster.errors import InventoryError
from kcluster.inventory import Loaded

HERE = Path("/inv")


def login(become_password: str = "", /, **variables: Any) -> Login:
    data = {
        "_meta": {"hostvars": {"h1": variables}},
        "all": {"children": ["ungrouped"], "vars": {"ansible_user": "everyone"}},
        "ungrouped": {"hosts": ["h1"]},
    }
    return inventory.logins(Loaded(HERE / "hosts.yml", data), become_password)["h1"]


def test_a_host_without_variables_is_entered_by_its_name() -> None:
    assert login() == Login("h1", "h1", user="everyone")


def test_every_variable_for_connections_counts() -> None:
    found = login(
        ansible_host="10.0.0.1",
        ansible_port=2222,
        ansible_user="me",
        ansible_ssh_private_key_file="/key",
        ansible_password="one",
        ansible_ssh_common_args="-o 'ProxyCommand=nc %h %p' -J jump",
        ansible_ssh_extra_args="-C",
        ansible_become_user="kafka",
        ansible_become_pass="two",
    )
    arguments = ("-o", "ProxyCommand=nc %h %p", "-J", "jump", "-C")
    assert found == Login("h1", "10.0.0.1", 2222, "me", "/key", "one", arguments, True, "kafka", "two")


@pytest.mark.parametrize("no", [False, "no", "False"])
def test_no_is_understood_in_every_spelling(no: object) -> None:
    assert login(ansible_become=no).become is False
    assert login(ansible_host_key_checking=no).arguments == ("-o", "StrictHostKeyChecking=no")


def test_the_password_for_sudo_comes_from_the_inventory_or_from_whoever_asks() -> None:
    assert login().become_password == ""
    assert login("asked").become_password == "asked"
    assert login("asked", ansible_become_password="written").become_password == "written"


@pytest.mark.parametrize(
    ("variables", "message"),
    [
        ({"ansible_become_method": "su"}, "sudo only"),
        ({"ansible_port": "many"}, "ansible_port of h1 is 'many'"),
        ({"ansible_ssh_common_args": "-o 'open"}, "is not valid shell syntax"),
    ],
)
def test_what_cannot_be_understood_is_refused(variables: dict[str, Any], message: str) -> None:
    with pytest.raises(InventoryError, match=message):
        login(**variables)


def test_a_vaulted_password_is_opened(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("kcluster.clients.ansible.decrypt", lambda text: text.upper())
    assert login(ansible_become_password={"__ansible_vault": "abc"}).become_password == "ABC"
