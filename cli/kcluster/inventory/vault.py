"""Opens single vaulted values (`!vault`) of our own words; Ansible hands these on encrypted."""

from __future__ import annotations

from functools import cache
from typing import Any

from kcluster.clients import ansible
from kcluster.errors import InventoryError
from kcluster.inventory.levels import Data
from kcluster.inventory.schema import VARIABLES, VariableType

_VAULTED = "__ansible_vault"


def opened(data: Data) -> Data:
    """The answer of Ansible with the vaulted values of our words in clear; all others stay as they are."""
    if _VAULTED not in repr(data):
        return data
    hosts = {host: _words(variables) for host, variables in data["_meta"]["hostvars"].items()}
    groups = {name: {**group, "vars": _words(group.get("vars", {}))} for name, group in data.items() if name != "_meta"}
    return {**groups, "_meta": {**data["_meta"], "hostvars": hosts}}


def _words(variables: dict[str, Any]) -> dict[str, Any]:
    from kcluster.config import property_tables  # lazily: most inventories have nothing vaulted

    for name, value in variables.items():
        if name in VARIABLES and VARIABLES[name].type is VariableType.PROPERTIES and isinstance(value, dict):
            property_tables.keep_secret(str(key) for key, item in value.items() if _VAULTED in repr(item))
    return {name: in_clear(value) if name in VARIABLES else value for name, value in variables.items()}


def in_clear(value: Any) -> Any:
    """A value with whatever is vaulted in it opened."""
    if isinstance(value, list):
        return [in_clear(item) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {_VAULTED}:
        return _decrypt(value[_VAULTED])
    return {key: in_clear(item) for key, item in value.items()}


@cache
def _decrypt(ciphertext: str) -> str:
    try:
        # `echo PASSWORD | ansible-vault encrypt_string` seals the line break of echo too, which nobody means.
        return ansible.decrypt(ciphertext).removesuffix("\n")
    except InventoryError as problem:
        raise InventoryError(
            "the inventory has vaulted values that cannot be opened",
            resolution="name the file of the vault's password: export ANSIBLE_VAULT_PASSWORD_FILE=FILE",
        ) from problem
