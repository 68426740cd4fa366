"""Wrong command lines: one plain line that says what to do, in place of the parser's own words."""

from __future__ import annotations

import re
from collections.abc import Iterable
from typing import TYPE_CHECKING, Any

from kcluster.errors import UsageError
from kcluster.model.suggestions import nearest
from kcluster.results import enumerated

if TYPE_CHECKING:
    from typer import Context, TyperException

READING = frozenset(
    {
        "validate",
        "render",
        "release",
        "release list",
        "release verify",
        "check",
        "explain",
        "plan",
        "status",
        "logs",
        "ok-to-stop",
        "history",
        "history show",
        "topic",
        "topic list",
        "topic describe",
        "topic plan",
        "consume",
        "group",
        "group list",
        "group describe",
        "broker",
        "broker list",
        "broker config",
        "health",
        "job",
        "job list",
        "job validate",
        "job status",
        "job logs",
        "job audit",
        "job dashboard",
        "completion",
    }
)
"""The commands that change nothing (and the tables of commands): only these are suggested for any similar word."""

_COMMAND = re.compile(r"No such command '(.*?)'")
_EXTRA = re.compile(r"Got unexpected extra argument\(s\) \((.*)\)", re.DOTALL)
_VALUE = re.compile(r"Option '(.*?)' (requires|does not take) ")


def usage_error(problem: TyperException) -> UsageError:
    """The error of a wrong command line, in one line, with the help to read."""
    context: Context | None = getattr(problem, "ctx", None)
    return UsageError(_message(problem, context), resolution=f"{_path(context)} --help")


def similar_commands(word: str, commands: Iterable[str], group: str = "") -> list[str]:
    """The commands of a group to suggest for a misspelt one: one that changes something only when one edit away."""
    return [
        command
        for command in nearest(word, commands)
        if f"{group} {command}".strip() in READING or _one_edit(word.lower(), command)
    ]


def _message(problem: TyperException, context: Context | None) -> str:
    text = str(getattr(problem, "message", "")) or problem.format_message()
    if found := _COMMAND.match(text):
        return _unknown_command(found[1], context)
    if found := _EXTRA.match(text):
        return f"unexpected argument {found[1]}: use {_line(context)}"
    if found := _VALUE.match(text):
        return f"{found[1]}: {'a value is missing' if found[2] == 'requires' else 'it takes no value'}"
    if (name := getattr(problem, "option_name", "")) and hasattr(problem, "possibilities"):
        return f"unknown option {name}" + _question(nearest(name, problem.possibilities or (), cutoff=0.75)[:1])
    if type(problem).__name__ == "MissingParameter":
        return f"missing {_label(problem)}: use {_line(context)}"
    return text


def _unknown_command(word: str, context: Context | None) -> str:
    command: Any = context.command if context else None
    group = _path(context).partition(" ")[2]
    return f"unknown command {word}" + _question(similar_commands(word, command.list_commands(context), group))


def _question(suggestions: list[str]) -> str:
    return f", did you mean {enumerated(suggestions, 'or')}?" if suggestions else ""


def _label(problem: Any) -> str:
    """The missing argument or option as its help names it."""
    option = problem.param.opts[0].startswith("-")
    return str(problem.param.opts[-1] if option else problem.param.metavar.removesuffix("..."))


def _path(context: Context | None) -> str:
    if not context:
        return "kcluster"
    below = context.invoked_subcommand
    return f"{context.command_path} {below}" if below and below != "*" else context.command_path


def _line(context: Context | None) -> str:
    """The usage in one line, without "Usage:"."""
    usage = context.get_usage() if context else "Usage: kcluster"
    return " ".join(usage.split()[1:])


def _one_edit(word: str, other: str) -> bool:
    """Whether inserting, removing or replacing one letter makes one of the other."""
    short, long = sorted((word, other), key=len)
    at = next((index for index, pair in enumerate(zip(short, long, strict=False)) if pair[0] != pair[1]), len(short))
    return short[at + (len(short) == len(long)) :] == long[at + 1 :]
