"""How the command line is typed and shown: plain values without Typer's slow imports, and plain usage lines."""

from __future__ import annotations

from dataclasses import dataclass
from enum import Enum
from pathlib import Path
from typing import Any

from typer import BadParameter, Context
from typer._coercion import RuntimeParam, TypeDescriptor, build_runtime_param
from typer.core import TyperArgument, TyperOption
from typer.models import ParameterInfo

from kcluster.errors import UsageError

_RULES = ("parser", "min", "max", "exists", "writable", "resolve_path", "allow_dash", "path_type")
"""Whatever asks for one of these wants more than a value of a plain type."""
HELP = ["-h", "--help"]
_METAVARS: dict[Any, str] = {int: "N", float: "N", Path: "FILE"}


@dataclass(frozen=True)
class PlainParameter(RuntimeParam):
    """A parameter whose value is made here when its type is plain, and by Typer when it is not, or is wrong.

    Typer's own way imports pydantic: 65 of the 100 ms that a short command may take.
    """

    descriptor: TypeDescriptor

    def _coerce_value(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value; raises UsageError that names the option, the value and what to write instead."""
        plain = None if _ruled(self.parameter_info) else _plain(self.annotation, value)
        if plain is not None:
            return plain
        try:
            return build_runtime_param(self.descriptor).coerce(value, param, ctx)
        except BadParameter as problem:
            raise UsageError(
                f"{_label(param)} {self._refused(value, param, ctx)}: {self._advice(problem)}",
                resolution=f"{ctx.command_path} --help",
            ) from problem

    def _refused(self, value: Any, param: Any, ctx: Any) -> Any:
        """The value that is wrong; of several the first one."""
        if not isinstance(value, (list, tuple)):
            return value
        coerce = build_runtime_param(self.descriptor).coerce
        for item in value:
            try:
                coerce([item], param, ctx)
            except BadParameter:
                return item
        return " ".join(map(str, value))

    def _advice(self, problem: BadParameter) -> str:
        from kcluster.results import enumerated  # lazily: only a mistake pays for it

        choices = self.descriptor.choices
        if choices:
            return f"use {enumerated((str(getattr(choice, 'value', choice)) for choice in choices), 'or')}"
        kind = next((kind for kind in (int, float) if self.annotation in (kind, list[kind])), None)  # type: ignore[valid-type]
        if kind and not self.parameter_info.parser:
            return f"use a {'whole ' if kind is int else ''}number{_range(self.parameter_info)}"
        return problem.message


class PlainArgument(TyperArgument):
    """An argument that the usage line and the help show as NAME, [NAME], NAME... or [NAME...]."""

    def display_type_rich(self, ctx: Any) -> str | None:
        """No type: the name says it."""
        return None

    def _usage_display_name(self) -> str:
        return self.display_name_raw if self.required else f"[{self.display_name_raw}]"


def with_plain_types(command: Any) -> Any:
    """The command, with all parameters of it and of the commands below it typed and shown plainly."""
    context = Context(command, help_option_names=HELP)
    for param in command.get_params(context):  # with `--help`, which is made on demand, once
        descriptor = param.type_descriptor
        param._runtime_param = PlainParameter(descriptor.parameter_info, descriptor.annotation, descriptor)
        if isinstance(param, TyperArgument):
            name = (param.metavar or param.name.upper()).strip("[].")
            param.metavar = f"{name}..." if param.nargs != 1 else name
            param.__class__ = PlainArgument
        elif isinstance(param, TyperOption) and not param.metavar:
            param.metavar = _metavar(descriptor)
    for below in getattr(command, "commands", {}).values():
        with_plain_types(below)
    return command


def _metavar(descriptor: TypeDescriptor) -> str:
    """What an option without a metavar of its own takes: its choices, N, FILE or TEXT."""
    if descriptor.choices:
        return "|".join(str(getattr(choice, "value", choice)) for choice in descriptor.choices)
    return _METAVARS.get(descriptor.annotation, "TEXT")


def _label(param: Any) -> str:
    """The option's long name, or the argument's."""
    return max(param.opts, key=len) if isinstance(param, TyperOption) else param.metavar.removesuffix("...")


def _range(info: ParameterInfo) -> str:
    if info.min is not None and info.max is not None:
        return f" from {info.min} to {info.max}"
    if info.min is not None:
        return f" of at least {info.min}"
    return f" of at most {info.max}" if info.max is not None else ""


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
