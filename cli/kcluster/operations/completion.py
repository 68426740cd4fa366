"""`completion`: the script that teaches a shell the words of kcluster."""

from __future__ import annotations

import re
from collections.abc import Iterable
from dataclasses import dataclass
from enum import StrEnum

from kcluster.results import Block, Result

PROGRAM, VARIABLE = "kcluster", "_KCLUSTER_COMPLETE"


class Shell(StrEnum):
    """The shells there are scripts for."""

    BASH = "bash"
    ZSH = "zsh"
    FISH = "fish"


BASH = """\
_kcluster_completion() {
    # Bash takes `localhost:9092` apart at the colon. We put the words together again from the line itself,
    # and take away from each answer what bash believes to be an earlier word.
    local line="${COMP_LINE:0:COMP_POINT}" IFS=$' \\t\\n' words answers cut
    read -ra words <<< "$line"
    [[ $line == *[[:space:]] ]] && words+=("")
    local word="${words[${#words[@]}-1]}"
    cut="${word%"${word##*:}"}"
    IFS=$'\\n'
    answers=( $(env COMP_WORDS="${words[*]}" COMP_CWORD=$((${#words[@]} - 1)) \\
        _KCLUSTER_COMPLETE=complete_bash kcluster 2>/dev/null) )
    [[ $cut && $COMP_WORDBREAKS == *:* ]] && answers=( "${answers[@]#"$cut"}" )
    COMPREPLY=( "${answers[@]}" )
}

complete -o default -F _kcluster_completion kcluster"""


@dataclass(frozen=True)
class Script(Result):
    """The script of one shell."""

    shell: Shell
    script: str

    def view(self) -> Iterable[Block]:
        """The script as it is, to be evaluated."""
        yield self.script


def completion(shell: Shell) -> Script:
    """The script to evaluate in the start-up file of the shell."""
    from typer.completion import get_completion_script

    if shell is Shell.BASH:
        return Script(shell, BASH)
    script = get_completion_script(prog_name=PROGRAM, complete_var=VARIABLE, shell=shell)
    return Script(shell, quiet(script))


def quiet(script: str) -> str:
    """The script with every call of kcluster silent on stderr: nothing may disturb the line a person types."""
    return re.sub(rf' {PROGRAM}(?=[)"])', f" {PROGRAM} 2>/dev/null", script)
