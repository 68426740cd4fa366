"""Prints an inventory as `ansible-inventory` does, with what Ansible makes of its templates.

python inventory_process.py PREFIXES SECONDS OPTIONS: of the variables with these prefixes, each within so many seconds.
The answer has them in `_meta.templates`: host -> group, or "" for the host itself -> variable -> what became of each
template, with its way into the variable.
"""

from __future__ import annotations

import json
import os
import signal
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import suppress
from functools import cache
from pathlib import Path
from typing import Any

import jinja2
from ansible.cli.inventory import InventoryCLI
from ansible.template import Templar
from ansible.vars.hostvars import HostVars
from jinja2 import nodes

_HARMLESS = {"env", "file", "vars", "config", "dict", "sequence", "first_found", "items", "list", "ini", "csvfile"}
"""Lookups whose answers are no secrets; others ask a vault or a program."""
_LOOKUPS = ("lookup", "query", "q")
_ENCRYPTED = ("EncryptedString", "AnsibleVaultEncryptedUnicode")
_OF_ALL = {"hostvars", "vars"}
"""What leads to variables whose names do not stand in a template, secrets perhaps."""

Way = tuple[str | int, ...]
"""The keys and numbers that lead to a part of a variable."""


class _Inventory(InventoryCLI):  # type: ignore[misc]  # Ansible has no types
    prefixes: tuple[str, ...]
    seconds: float

    def json_inventory(self, top: Any) -> dict[str, Any]:
        exported: dict[str, Any] = super().json_inventory(top)
        groups = {name: self._asked(group.get("vars", {})) for name, group in exported.items() if name != "_meta"}
        hosts = {name: self._asked(written) for name, written in exported["_meta"]["hostvars"].items()}
        HostVars(self.inventory, self.vm, self.loader)  # makes `hostvars` known to the manager of variables
        known: dict[Any, dict[str, Any]] = {}
        found = {}
        for host in self.inventory.get_hosts("all"):
            levels = {group.name: groups[group.name] for group in host.get_groups() if groups.get(group.name)}
            levels |= {"": hosts[host.name]} if hosts.get(host.name) else {}
            if levels:
                evaluation = _Evaluation(self.loader, self.vm.get_vars(host=host), self.seconds, known)
                found[host.name] = {level: evaluation.variables(asked) for level, asked in levels.items()}
        exported["_meta"]["templates"] = found
        return exported

    def _asked(self, written: Mapping[str, Any]) -> dict[str, list[tuple[Way, str]]]:
        names = (name for name in written if name.startswith(self.prefixes))
        return {name: templates for name in names if (templates := list(_templates(written[name])))}


class _Evaluation:
    """Evaluates templates for one host."""

    def __init__(
        self, loader: Any, variables: Mapping[str, Any], seconds: float, known: dict[Any, dict[str, Any]]
    ) -> None:
        self._templar = Templar(loader=loader, variables=variables)
        self._variables = variables
        self._seconds = seconds
        self._known = known
        """What became of templates for other hosts: of those that took too long, and by all that they depend on."""

    def variables(self, asked: Mapping[str, Sequence[tuple[Way, str]]]) -> dict[str, list[dict[str, Any]]]:
        return {
            name: [{"way": list(way), "template": str(template), **self._result(template)} for way, template in found]
            for name, found in asked.items()
        }

    def _result(self, template: str) -> dict[str, Any]:
        """Its value and whether that is a secret, or the problem."""
        if template in self._known:
            return self._known[template]
        used: dict[str, Any] = {}
        lookups = self._follow(template, used)
        if lookups - _HARMLESS or _OF_ALL & used.keys() or any(map(_was_encrypted, _parts(used))):
            return self._evaluated(template, _without_secrets(used), secret=True)
        if lookups:
            return self._evaluated(template)
        key = (template, repr(used))  # most hosts of a group share all that its templates depend on
        if key not in self._known:
            self._known[key] = self._evaluated(template)
        return self._known[key]

    def _evaluated(
        self,
        template: str,
        reason: Callable[[Exception], str] = lambda it: _shortened(str(it)),
        *,
        secret: bool = False,
    ) -> dict[str, Any]:
        signal.setitimer(signal.ITIMER_REAL, self._seconds)
        try:
            # Plain types: Ansible's own carry marks that its export would write down.
            value = json.loads(json.dumps(self._templar.template(template), default=str))
            return {"value": value, "secret": secret}
        except _TooSlowError:
            _end_children()
            self._known[template] = {"problem": f"it took longer than {self._seconds:g} s"}
            return self._known[template]
        except Exception as problem:  # of any lookup or filter
            return {"problem": reason(problem)}
        finally:
            signal.setitimer(signal.ITIMER_REAL, 0)

    def _follow(self, template: str, used: dict[str, Any]) -> set[str]:
        """Adds all variables that a template leads to, and returns the names of the lookups on the way."""
        names, lookups = _names_and_lookups(template)
        found = set(lookups)
        for name in names - used.keys():
            used[name] = None if name in _OF_ALL or name == "groups" else self._variables.get(name)
            for part in _parts(used[name]):
                found |= self._follow(part, used) if isinstance(part, str) and _is_template(part) else set()
        return found


@cache
def _names_and_lookups(template: str) -> tuple[frozenset[str], frozenset[str]]:
    """The variables and the lookups that stand in a template; none where it cannot be parsed."""
    try:
        tree = jinja2.Environment(autoescape=True).parse(template)  # only parsed, never rendered
    except jinja2.TemplateSyntaxError:
        return frozenset(), frozenset()
    lookups = (_lookup(call) for call in tree.find_all(nodes.Call))
    names = {name.name for name in tree.find_all(nodes.Name)}
    return frozenset(names.difference(_LOOKUPS)), frozenset(filter(None, lookups))


def _lookup(call: nodes.Call) -> str:
    """The name of the lookup that is called; empty for any other call."""
    if not isinstance(call.node, nodes.Name) or call.node.name not in _LOOKUPS:
        return ""
    name = call.args[0].value if call.args and isinstance(call.args[0], nodes.Const) else "one that a template names"
    return str(name).removeprefix("ansible.builtin.")


def _parts(value: Any) -> Iterator[Any]:
    """A value and everything in it."""
    yield value
    inner = value.values() if isinstance(value, Mapping) else value if isinstance(value, list | tuple) else ()
    for item in inner:
        yield from _parts(item)


class _TooSlowError(BaseException):
    """A template took too long; no part of Ansible may take it for an error of its own."""


def _is_template(text: str) -> bool:
    return "{{" in text or "{%" in text


def _templates(value: Any, way: Way = ()) -> Iterator[tuple[Way, str]]:
    """The templates in a variable with the ways to them."""
    if isinstance(value, str):
        if _is_template(value):
            yield way, value
    elif isinstance(value, Mapping):
        for key, item in value.items():
            yield from _templates(item, (*way, str(key)))
    elif isinstance(value, list | tuple):
        for number, item in enumerate(value):
            yield from _templates(item, (*way, number))


def _was_encrypted(value: Any) -> bool:
    """Whether a value was encrypted, by itself or with its file."""
    if type(value).__name__ in _ENCRYPTED:
        return True
    marks = {type(mark).__name__: mark for mark in getattr(value, "_ansible_tags_mapping", {}).values()}
    if "VaultedValue" in marks:
        return True
    file = marks["Origin"].path if "Origin" in marks else (getattr(value, "ansible_pos", None) or ("",))[0]
    return bool(file) and _is_vaulted(file)


@cache
def _is_vaulted(path: str) -> bool:
    try:
        with open(path, "rb") as file:
            return file.read(14) == b"$ANSIBLE_VAULT"
    except OSError:
        return False


def _shortened(problem: str) -> str:
    """The first sentence of the reason: Ansible puts its own way to it around."""
    line = problem.rpartition("original message: ")[2].strip().partition("\n")[0]
    if "recursi" in line.lower():
        return "it leads to itself"
    return line.split(". ")[0].rpartition("undecryptable variable: ")[2].rstrip(".") or "no reason is given"


def _without_secrets(used: Mapping[str, Any]) -> Callable[[Exception], str]:
    """The reason where it cannot contain the value of a secret, else only its kind."""

    def reason(problem: Exception) -> str:
        text = _shortened(str(problem))
        known = "decrypt" in text or any(f"'{name}' is undefined" in text for name in used)
        return text if known else f"{type(problem).__name__}, whose text may contain a secret"

    return reason


def _end_children() -> None:
    """End what a lookup has started: it would hold our output open."""
    for child in list(_descendants(os.getpid())):
        with suppress(ProcessLookupError):
            os.kill(child, signal.SIGKILL)


def _descendants(process: int) -> Iterator[int]:
    for children in Path(f"/proc/{process}/task").glob("*/children"):
        for child in map(int, children.read_text().split()):
            yield child
            yield from _descendants(child)


def _late(*_: Any) -> None:
    raise _TooSlowError


def main() -> None:
    """Be ansible-inventory."""
    prefixes, seconds = sys.argv.pop(1), sys.argv.pop(1)
    _Inventory.prefixes, _Inventory.seconds = tuple(prefixes.split(",")), float(seconds)
    sys.argv[0] = "ansible-inventory"
    signal.signal(signal.SIGALRM, _late)
    _Inventory.cli_executor()


if __name__ == "__main__":
    main()
