"""Programs for hosts: a script of plugins/module_utils and the library it imports, as one text for `python3 -`."""

from __future__ import annotations

import json
import re
import sys
from collections.abc import Mapping
from functools import cache
from types import ModuleType
from typing import Any

from kcluster import paths

COMMAND = "python3 -IS -"
"""Isolated and without site packages: the host's own additions are not wanted, and 80 ms are saved."""

LINE_COMMAND = "python3 -IS -c 'exec(input())'"
"""The same for a program in one line, whose input goes on after it."""

LIBRARY = "ansible_collections.kcluster.kafka.plugins.module_utils"
"""The name under which scripts, modules and this package import the library."""

_HERE = "kcluster_host_library"
"""Its name in this process, where Ansible may have the real one."""
_IMPORTED = re.compile(rf"^from {re.escape(LIBRARY)}(?:\.(\w+))? import (\([^)]+\)|[\w, ]+)", re.MULTILINE)
_PRELUDE = f"""import json, sys
if sys.version_info < (3, 8):
    sys.exit("Python %d.%d.%d is too old: 3.8 or newer is needed" % sys.version_info[:3])
from types import ModuleType
library = sys.modules[{LIBRARY!r}] = ModuleType({LIBRARY!r})
def load(name, source):
    module = sys.modules[{LIBRARY!r} + "." + name] = ModuleType({LIBRARY!r} + "." + name)
    exec(compile(source, name + ".py", "exec"), module.__dict__)
    setattr(library, name, module)
"""
"""Parsed by any Python, so that an old one can name its version."""


def program(script: str, question: Mapping[str, Any], *, function: str = "main") -> str:
    """The self-contained text that calls a script's function with a question; the script prints its answer."""
    literal = repr(json.dumps(question))  # whatever stands in it is data
    return f"{_loading(script)}library.{script}.{function}(json.loads({literal}))\n"


def line(script: str, question: Mapping[str, Any]) -> str:
    """The same program as one line."""
    return f"exec({program(script, question)!a})\n"


@cache
def _loading(script: str) -> str:
    return _PRELUDE + "".join(f"load({name!r}, {source!r})\n" for name, source in _sources(script))


def load(script: str) -> ModuleType:
    """The same script as a module of this process."""
    package = sys.modules.setdefault(_HERE, ModuleType(_HERE))
    for name, source in _sources(script):
        full = f"{_HERE}.{name}"
        if full not in sys.modules:
            module = sys.modules[full] = ModuleType(full)
            exec(compile(source.replace(LIBRARY, _HERE), f"{name}.py", "exec"), module.__dict__)
            setattr(package, name, module)
    return sys.modules[f"{_HERE}.{script}"]


@cache
def _sources(script: str) -> tuple[tuple[str, str], ...]:
    """A script and all that it imports from the library, each after what it imports itself."""
    source = (paths.project() / "plugins/module_utils" / f"{script}.py").read_text()
    texts = {name: text for imported in _imported(source) for name, text in _sources(imported)}
    return (*texts.items(), (script, source))


def _imported(source: str) -> list[str]:
    """The library modules that a source imports."""
    lines = _IMPORTED.findall(source)
    return [name for module, names in lines for name in ([module] if module else re.findall(r"\w+", names))]
