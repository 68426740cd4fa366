"""The passwords of vaulted values, as options of every command that reads an inventory.

They become settings of Ansible in the environment, which all its programs that kcluster starts read.
"""

from __future__ import annotations

import atexit
import os
import tempfile
from pathlib import Path
from typing import Annotated, Any

import typer

from kcluster import show
from kcluster.errors import UsageError

_FILE, _IDS = "ANSIBLE_VAULT_PASSWORD_FILE", "ANSIBLE_VAULT_IDENTITY_LIST"
_PROMPT = "prompt"


def with_vault_options(command: Any) -> Any:
    """The command; where it, or one below it, has an inventory, it takes the options too."""
    for below in getattr(command, "commands", {}).values():
        with_vault_options(below)
    if any(param.name == "inventory" for param in command.params):
        command.params += _options()
    return command


def _options() -> list[Any]:
    """The options as Typer makes them; it needs a command to make them for."""
    app = typer.Typer(add_completion=False)
    app.command()(_declared)
    made: list[Any] = typer.main.get_command(app).params
    return made


def _declared(
    vault_password_file: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE",
            callback=_file,
            expose_value=False,
            help="The password of vaulted values, or a program that prints it.",
        ),
    ] = None,
    vault_id: Annotated[
        list[str] | None,
        typer.Option(
            metavar="ID@FILE",
            callback=_ids,
            expose_value=False,
            help="The same for one vault id; ID@prompt asks. Can be repeated.",
        ),
    ] = None,
    ask_vault_password: Annotated[
        bool,
        typer.Option(
            "--ask-vault-password",
            "-J",
            callback=_ask,
            expose_value=False,
            help="Ask for the password of vaulted values.",
        ),
    ] = False,
) -> None:
    """Never runs; it carries the declarations."""


def _file(path: Path | None) -> None:
    if path is not None:
        os.environ[_FILE] = _readable(path)


def _ids(given: list[str] | None) -> None:
    if given:
        os.environ[_IDS] = ",".join(map(_source, given))


def _ask(asked: bool) -> None:
    if asked:
        os.environ[_FILE] = _asked("vault password: ")


def _source(written: str) -> str:
    """LABEL@FILE as Ansible takes it; a password that is asked for is in a file by then."""
    label, at, source = written.rpartition("@")
    if source in (_PROMPT, f"{_PROMPT}_ask_vault_pass"):
        return f"{label}{at}{_asked(f'vault password of {label}: ' if label else 'vault password: ')}"
    return f"{label}{at}{_readable(Path(source))}"


def _readable(path: Path) -> str:
    if not path.is_file():
        raise UsageError(
            f"there is no vault password file {path}", resolution="give a file, or a program that prints it"
        )
    if "," in str(path):
        raise UsageError(f"vault password file {path}: Ansible splits its path at the comma", resolution="rename it")
    return str(path.absolute())


def _asked(question: str) -> str:
    """The file with a password that is typed now: readable by its owner only, deleted when this process ends."""
    if not show.interactive():
        raise UsageError("there is no terminal to ask for the vault password", resolution="--vault-password-file FILE")
    in_memory = os.environ.get("XDG_RUNTIME_DIR", "")
    descriptor, path = tempfile.mkstemp(prefix="kcluster-vault-", dir=in_memory if os.path.isdir(in_memory) else None)
    atexit.register(Path(path).unlink, missing_ok=True)
    with open(descriptor, "w") as file:
        file.write(show.secret(question))
    return path
