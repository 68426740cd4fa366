"""The arguments of the roles are words of the inventory, and their own few have a default."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
import yaml

from kcluster.inventory.schema import GROUPS, VARIABLES, VariableType

ROLES = ("host", "kafka", "release", "spark", "zookeeper")
OF_THE_CLI = {"kafka_topics", "kafka_client_properties"}
"""Words that no host is told."""
TYPES = {
    VariableType.INTEGER: "int",
    VariableType.PORT: "int",
    VariableType.BOOLEAN: "bool",
    VariableType.PROPERTIES: "dict",
    VariableType.HEAP: "str",
    VariableType.PATH: "path",
    VariableType.TEXT: "str",
    VariableType.SECRET: "str",
}


def options(project: Path, role: str) -> dict[str, Any]:
    specs = yaml.safe_load((project / "roles" / role / "meta/argument_specs.yml").read_text())
    found: dict[str, Any] = specs["argument_specs"]["main"]["options"]
    return found


def test_the_roles_are_these(project: Path) -> None:
    assert sorted(path.name for path in (project / "roles").iterdir() if path.is_dir()) == sorted(ROLES)
    assert all((project / "roles" / role / "README.md").is_file() for role in ROLES)


@pytest.mark.parametrize("role", ROLES)
def test_an_argument_is_a_word_of_its_type_or_has_a_default(project: Path, role: str) -> None:
    defaults = project / "roles" / role / "defaults/main.yml"
    own = yaml.safe_load(defaults.read_text()) if defaults.is_file() else {}
    for name, option in options(project, role).items():
        assert option["description"]
        if name in own:
            assert option["default"] == own[name]
        else:
            assert option["type"] == TYPES.get(VARIABLES[name].type, option["type"]), name


@pytest.mark.parametrize("role", ROLES)
def test_an_argument_that_may_hold_secrets_is_not_logged(project: Path, role: str) -> None:
    secret = (VariableType.PROPERTIES, VariableType.SECRET)
    hidden = {name for name, option in options(project, role).items() if option.get("no_log")}
    assert hidden == {name for name in options(project, role) if name in VARIABLES and VARIABLES[name].type in secret}


def test_every_word_that_hosts_are_told_is_an_argument(project: Path) -> None:
    told = {name for role in ROLES for name in options(project, role)}
    assert set(VARIABLES) - told == OF_THE_CLI


def test_the_groups_of_provision_are_those_of_the_inventory(project: Path) -> None:
    plays = yaml.safe_load((project / "playbooks/provision.yml").read_text())
    assert all(any(group in str(play["hosts"]) for play in plays) for group in GROUPS)
