"""`kcluster completion`: which shell."""

from __future__ import annotations

from typing import Annotated

import typer

from kcluster import show
from kcluster.commands.options import Output
from kcluster.operations.completion import Script, Shell
from kcluster.operations.completion import completion as script

app = typer.Typer(add_completion=False, rich_markup_mode=None)


@app.command()
def completion(
    shell: Annotated[Shell, typer.Argument(help="The shell.")], output: Output = show.OutputFormat.TABLE
) -> Script:
    """Print the completion script for bash, zsh or fish.

    bash: echo 'eval "$(kcluster completion bash)"' >> ~/.bashrc

    zsh: echo 'eval "$(kcluster completion zsh)"' >> ~/.zshrc  (after compinit)

    fish: kcluster completion fish > ~/.config/fish/completions/kcluster.fish
    """
    return script(shell)
