"""Decrypts vaulted values (`!vault`) of kcluster's variables, which an export contains encrypted."""

from __future__ import annotations

from functools import cache
from typing import Any

from kcluster.clients import ansible
from kcluster.errors import InventoryError
from kcluster.inventory.levels import Data
from kcluster.inventory.schema import VARIABLES, VariableType

_VAULTED = "__ansible_vault"


def decrypted(data: Data) -> Data:
    """The export with the vaulted values of kcluster's variables decrypted; others stay encrypted."""
    if _VAULTED not in repr(data):
        return data
    hosts = {host: _decrypt_variables(variables) for host, variables in data["_meta"]["hostvars"].items()}
    groups = {
        name: {**group, "vars": _decrypt_variables(group.get("vars", {}))}
        for name, group in data.items()
        if name != "_meta"
    }
    return {**groups, "_meta": {**data["_meta"], "hostvars": hosts}}


def _decrypt_variables(variables: dict[str, Any]) -> dict[str, Any]:
    from kcluster.config import property_tables  # lazily: most inventories have nothing vaulted

    for name, value in variables.items():
        if name in VARIABLES and VARIABLES[name].type is VariableType.PROPERTIES and isinstance(value, dict):
            property_tables.keep_secret(str(key) for key, item in value.items() if _VAULTED in repr(item))
    return {name: in_clear(value) if name in VARIABLES else value for name, value in variables.items()}


def in_clear(value: Any) -> Any:
    """A value with all vaulted parts decrypted; InventoryError without the right password."""
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
        # `echo PASSWORD | ansible-vault encrypt_string` also encrypts the line break of echo.
        return ansible.decrypt(ciphertext).removesuffix("\n")
    except InventoryError as problem:
        raise InventoryError(
            "the inventory has vaulted values that cannot be decrypted",
            resolution="set the vault password file: export ANSIBLE_VAULT_PASSWORD_FILE=FILE",
        ) from problem
