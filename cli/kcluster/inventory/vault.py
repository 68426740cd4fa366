"""Decrypts vaulted values (`!vault`) of kcluster's variables, which an export contains encrypted."""

from __future__ import annotations

from functools import cache
from pathlib import Path
from typing import Any

from kcluster.clients import ansible
from kcluster.errors import InventoryError
from kcluster.inventory import vault_errors
from kcluster.inventory.levels import Data
from kcluster.inventory.schema import VARIABLES, VariableType

_VAULTED = "__ansible_vault"


def decrypted(data: Data, inventory: Path) -> Data:
    """The export with the vaulted values of kcluster's variables decrypted; others stay encrypted."""
    if _VAULTED not in repr(data):
        return data
    hosts = {host: _decrypt_variables(variables, inventory) for host, variables in data["_meta"]["hostvars"].items()}
    groups = {
        name: {**group, "vars": _decrypt_variables(group.get("vars", {}), inventory)}
        for name, group in data.items()
        if name != "_meta"
    }
    return {**groups, "_meta": {**data["_meta"], "hostvars": hosts}}


def _decrypt_variables(variables: dict[str, Any], inventory: Path) -> dict[str, Any]:
    from kcluster.config import property_tables  # lazily: most inventories have nothing vaulted

    for name, value in variables.items():
        if name in VARIABLES and VARIABLES[name].type is VariableType.PROPERTIES and isinstance(value, dict):
            property_tables.keep_secret(str(key) for key, item in value.items() if _VAULTED in repr(item))
    return {name: in_clear(value, inventory) if name in VARIABLES else value for name, value in variables.items()}


def in_clear(value: Any, inventory: Path) -> Any:
    """A value of an inventory with all vaulted parts decrypted; InventoryError without the right password."""
    if isinstance(value, list):
        return [in_clear(item, inventory) for item in value]
    if not isinstance(value, dict):
        return value
    if set(value) == {_VAULTED}:
        try:
            return _decrypt(value[_VAULTED])
        except InventoryError as problem:
            raise vault_errors.of_value(value[_VAULTED], inventory, problem) from problem
    return {key: in_clear(item, inventory) for key, item in value.items()}


@cache
def _decrypt(ciphertext: str) -> str:
    # `echo PASSWORD | ansible-vault encrypt_string` also encrypts the line break of echo.
    return ansible.decrypt(ciphertext).removesuffix("\n")
