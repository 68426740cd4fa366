"""The Typer root: the table of contents of the CLI. It catches errors once and prints results once."""

from __future__ import annotations

import errno
import os
import sys
from collections.abc import Sequence
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import CompletionItem, TyperGroup

from kcluster import __version__, interrupt
from kcluster.errors import ExitCode, KclusterError, RefusedError
from kcluster.option_types import with_plain_types

SECTIONS = {
    "Start here": {
        "init": "Write a starter inventory that validates at once.",
        "validate": "Check an inventory and report all findings.",
        "up": "Start a cluster on this machine, or its missing nodes.",
        "down": "Stop a cluster on this machine; keeps its data.",
        "completion": "Print the completion script for bash, zsh or fish.",
    },
    "Hosts": {
        "check": "Check that each host is fit for its part; exit 4 when not.",
        "explain": "Explain a check and how to fix it.",
        "plan": "Show what provision would change on each host; changes nothing.",
        "render": "Show each file as it lands on the hosts; secrets as ********.",
        "release": "List, fetch, verify and bundle Kafka releases.",
        "provision": "Install or change a cluster as its inventory says, and test it.",
        "exec": "Run a command on the hosts of a cluster, all at once.",
        "start": "Start the stopped nodes of a cluster.",
        "ok-to-stop": "Judge if hosts or nodes may stop together now; exit 4 if not.",
        "stop": "Stop nodes of a cluster in order; their data stays.",
        "restart": "Restart nodes one at a time, or in safe sets, behind gates.",
        "destroy": "Remove a cluster from its hosts; keeps its data.",
        "history": "Show the runs that changed a cluster, and their steps.",
    },
    "Cluster": {
        "status": "Show nodes and whether they run; exit 4 when not all do.",
        "logs": "Show the last lines of the logs of a cluster.",
        "health": "Check the health of a cluster; exit 4 when it is unhealthy.",
        "smoke": "Write and read records through every listener; exit 4 on loss.",
        "broker": "List brokers and their effective configuration.",
    },
    "Data": {
        "topic": "List, describe, create, alter, delete, plan and apply topics.",
        "produce": "Write lines or JSON records to a topic.",
        "consume": "Read records from a topic.",
        "group": "List, describe, reset and delete consumer groups.",
    },
    "Jobs": {
        "job": "List, validate, submit, watch, stop and audit PySpark jobs.",
    },
}
"""The table of contents: every command and its sentence, by section."""

COMMANDS = {word: sentence for section in SECTIONS.values() for word, sentence in section.items()}
"""Every command and its sentence; the module of the same name is imported when the command runs."""


def command_of(word: str) -> Any:
    """The command of a word: `ok-to-stop` is in `commands/ok_to_stop.py`."""
    return typer.main.get_command(import_module(f"kcluster.commands.{word.replace('-', '_')}").app)


class LazyCommands(TyperGroup):
    """Imports a command's module only when that command runs, so that `--help` is instant."""

    def list_commands(self, ctx: Any) -> list[str]:
        """The commands, in the order of the table of contents."""
        return list(COMMANDS)

    def get_command(self, ctx: Any, cmd_name: str) -> Any:
        """The command of that name, imported now."""
        if cmd_name not in COMMANDS:
            return None
        from kcluster.vault_options import with_vault_options  # lazily: `--help` needs none of it

        return with_plain_types(with_vault_options(command_of(cmd_name)))

    def format_commands(self, ctx: Any, formatter: Any) -> None:
        """The table of contents, without importing anything."""
        width = max(map(len, COMMANDS))
        for title, commands in SECTIONS.items():
            with formatter.section(title):
                formatter.write_dl([(word.ljust(width), sentence) for word, sentence in commands.items()])

    def invoke(self, ctx: Any) -> int:
        """Run the command and print what it returns, in the form that `--output` asked for."""
        from kcluster import show  # lazily, here and below: `--help` needs none of it

        try:
            with interrupt.raised():
                return _shown(super().invoke(ctx), ctx)
        except KclusterError as problem:
            show.failure(problem, ctx.meta.get(show.OutputFormat, show.OutputFormat.TABLE))
            raise  # main reports it on stderr
        except (KeyboardInterrupt, SystemError) as problem:
            # C code that is interrupted while it frees a client makes a SystemError of it.
            if not isinstance(problem, KeyboardInterrupt) and not isinstance(problem.__cause__, KeyboardInterrupt):
                raise
            show.progress("interrupted")
            return ExitCode.INTERRUPTED
        except typer.TyperException as problem:
            if getattr(problem, "ctx", ctx) is None:
                problem.ctx = ctx  # type: ignore[attr-defined]  # so that the error can name the command's help
            raise

    def shell_complete(self, ctx: Any, incomplete: str) -> list[CompletionItem]:
        """The commands that begin like this, with their sentences, without importing anything."""
        items = [CompletionItem(name, help=text) for name, text in COMMANDS.items() if name.startswith(incomplete)]
        return items or super(TyperGroup, self).shell_complete(ctx, incomplete)


def _shown(value: Any, ctx: Any) -> int:
    """Print what a command returned; `exec`, `consume` and `logs -f` do their work while they are shown."""
    from kcluster import show
    from kcluster.results import Result

    if not isinstance(value, Result):
        return ExitCode.DONE
    try:
        show.result(value, ctx.meta.get(show.OutputFormat, show.OutputFormat.TABLE))
    except BrokenPipeError:  # the reader stopped early; the exit code stays
        show.hush(sys.stdout)
    return value.exit_code


app = typer.Typer(
    cls=LazyCommands,
    add_completion=False,
    no_args_is_help=True,
    rich_markup_mode=None,
    pretty_exceptions_enable=False,
)


def _version(asked: bool) -> None:
    if asked:
        print(f"kcluster {__version__}")
        raise typer.Exit


@app.callback()
def root(
    _: Annotated[
        bool, typer.Option("--version", callback=_version, is_eager=True, help="Show the version and exit.")
    ] = False,
) -> None:
    """Provision and operate Apache Kafka clusters from an Ansible inventory, on this machine or on many hosts."""


def main(arguments: Sequence[str] | None = None) -> int:
    """Run one command line and return its exit code."""
    try:
        return _run(arguments)
    except BrokenPipeError:
        from kcluster import show

        show.hush(sys.stdout)  # the reader (`logs | head`) stopped early
        return ExitCode.DONE
    except KclusterError as problem:
        return _report(problem)
    except (KeyboardInterrupt, typer.Abort):
        return ExitCode.INTERRUPTED
    except OSError as problem:
        return _full(problem) if problem.errno in (errno.ENOSPC, errno.EDQUOT) else _bug()
    except Exception:  # the last line of defence: whatever arrives here is a bug
        return _bug()


def _bug() -> int:
    """Print the traceback of the current error, and how to report it."""
    sys.excepthook(*sys.exc_info())
    report = "report it with the lines above, the command and `kcluster --version`"
    return _report(KclusterError("this is a bug in kcluster", resolution=report))


def _full(problem: OSError) -> int:
    """Report a full disk with the file; without a file name it is stdout."""
    from kcluster import show

    if not problem.filename:
        show.hush(sys.stdout)
    advice = "free disk space (see `df -h`); the finished steps of a run are in `kcluster history`"
    return _report(
        RefusedError(f"{problem.filename or 'stdout'} cannot be written: {problem.strerror}", resolution=advice)
    )


def _report(problem: KclusterError) -> int:
    """Print an error, and return its exit code."""
    from kcluster import show

    show.error(problem)
    return problem.exit_code


def _run(arguments: Sequence[str] | None) -> int:
    if "_KCLUSTER_COMPLETE" in os.environ:
        from typer._completion_classes import completion_init

        completion_init()
    command = with_plain_types(typer.main.get_command(app))
    try:
        code = int(command.main(arguments, prog_name="kcluster", standalone_mode=False))
        sys.stdout.flush()
        return code
    except typer.TyperException as problem:
        return _usage(problem)
    except SystemExit as problem:
        # Out of standalone mode Typer leaves this way for one reason: the reader of stdout is gone.
        raise BrokenPipeError from problem


def _usage(problem: Any) -> int:
    """Print a wrong command line as any other error, with the help that belongs to it."""
    message = problem.format_message()
    context = getattr(problem, "ctx", None)
    if context and message == context.get_help():
        print(message, file=sys.stderr)
        return ExitCode.USAGE
    from kcluster.usage import usage_error  # lazily: only a mistake pays for it

    return _report(usage_error(problem))
