"""How words of the command line become values: plain types without the library Typer would import for them."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from typer import Context
from typer._coercion import RuntimeParam, TypeDescriptor, build_runtime_param
from typer.models import ParameterInfo

_RULES = ("parser", "min", "max", "exists", "writable", "resolve_path", "allow_dash", "path_type")
"""Whatever asks for one of these wants more than a value of a plain type."""


@dataclass(frozen=True)
class PlainParameter(RuntimeParam):
    """A parameter whose value is made here when its type is plain, and by Typer when it is not, or is wrong.

    Typer's own way imports pydantic: 65 of the 100 ms that a short command may take.
    """

    descriptor: TypeDescriptor

    def _coerce_value(self, value: Any, param: Any, ctx: Any) -> Any:
        made = None if _ruled(self.parameter_info) else _plain(self.annotation, value)
        return build_runtime_param(self.descriptor).coerce(value, param, ctx) if made is None else made


def with_plain_types(command: Any) -> Any:
    """The command, with all parameters of it and of the commands below it made plainly."""
    for param in command.get_params(Context(command)):  # with `--help`, which is made on demand
        descriptor = param.type_descriptor
        param._runtime_param = PlainParameter(descriptor.parameter_info, descriptor.annotation, descriptor)
    for below in getattr(command, "commands", {}).values():
        with_plain_types(below)
    return command


def _ruled(info: ParameterInfo) -> bool:
    return any(getattr(info, rule, None) for rule in _RULES) or not (info.file_okay and info.dir_okay)


def _plain(kind: Any, value: Any) -> Any:
    """The value, or None when this is not as simple as it looks."""
    if kind in (str, bool) and isinstance(value, kind):
        return value
    if kind == list[str] and isinstance(value, (list, tuple)):
        return [str(word) for word in value]
    if kind is Path and isinstance(value, (str, Path)):
        return Path(value)
    if isinstance(kind, type) and issubclass(kind, Enum):
        return next((member for member in kind if value in (member, member.value)), None)
    return None
