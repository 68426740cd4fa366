"""Templates in variables: Ansible evaluates them for each host when it exports an inventory."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

_UNDEFINED = re.compile(r"'(\w+)' is undefined")
_REFERENCE = re.compile(r"\s*\{\{[\s\w.]*\}\}\s*")


@dataclass(frozen=True)
class TemplateResult:
    """A template in a variable, and what it gave for one host."""

    variable: str
    text: str
    way: tuple[str | int, ...]
    """The keys and numbers that lead to it in the variable."""
    value: Any = None
    problem: str = ""
    """Why there is no value."""
    secret: bool = False
    """Whether the value comes from a vault, or may."""

    @property
    def key(self) -> str:
        """The nearest key of the variable above it; empty where the template is the variable."""
        return next((step for step in reversed(self.way) if isinstance(step, str)), "")

    @property
    def shown(self) -> str:
        """The template as it may be shown: a name in braces is no secret, other text beside may be one."""
        from kcluster.config.escaping import masked  # lazily: a good inventory is read without the tables of properties

        keys = ".".join(step for step in self.way if isinstance(step, str))
        return (
            self.text.strip() if _REFERENCE.fullmatch(self.text) else masked(keys or self.variable, self.text.strip())
        )

    @property
    def resolution(self) -> str:
        """What to do about its problem."""
        undefined = _UNDEFINED.search(self.problem)
        if "ansible_facts" in self.text or (undefined and undefined[1].startswith("ansible_")):
            return "write the value itself: facts of hosts are not known before these are asked"
        if undefined:
            name = undefined[1]
            return f"define {name} in the inventory, or give it a default: {{{{ {name} | default('...') }}}}"
        if "vault" in self.problem:
            return "give the password: --vault-password-file FILE, or --vault-id ID@FILE"
        return "correct the template, or write the value itself"


def of_variables(found: Mapping[str, Iterable[Mapping[str, Any]]]) -> dict[str, tuple[TemplateResult, ...]]:
    """The templates of each variable, out of an export."""
    return {
        name: tuple(
            TemplateResult(
                name,
                each["template"],
                tuple(each["way"]),
                each.get("value"),
                each.get("problem", ""),
                each.get("secret", False),
            )
            for each in templates
        )
        for name, templates in found.items()
    }


def filled_in(value: Any, templates: Sequence[TemplateResult]) -> Any:
    """A variable with the values of its templates; one with a problem stays as it is written."""
    for template in templates:
        value = value if template.problem else _put(value, template.way, template.value)
    return value


def _put(value: Any, way: Sequence[str | int], part: Any) -> Any:
    if not way:
        return part
    first, *rest = way
    if isinstance(value, Mapping):
        return {key: _put(item, rest, part) if str(key) == first else item for key, item in value.items()}
    return [_put(item, rest, part) if number == first else item for number, item in enumerate(value)]


def template_in(value: Any) -> str:
    """The first template in a value; empty when there is none."""
    if isinstance(value, str):
        return value.strip() if "{{" in value or "{%" in value else ""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        return next((found for item in value if (found := template_in(item))), "")
    return ""
