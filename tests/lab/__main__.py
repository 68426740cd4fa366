"""`./run lab`: hosts to try things on, by hand."""

from __future__ import annotations

import argparse
import inspect
import os
import sys
from collections.abc import Callable
from typing import get_type_hints

from tests.lab import faults
from tests.lab.host import Host
from tests.lab.image import JAVA, Recipe, base_image
from tests.lab.lab import Lab, guard, reap
from tests.lab.machine import LabError, check, environment, missing_packages
from tests.lab.process import Process

FAULTS = {
    name: fault
    for name, fault in vars(faults).items()
    if inspect.isfunction(fault) and fault.__module__ == faults.__name__
}


def up(words: argparse.Namespace) -> None:
    """Make a lab of N hosts and boot them."""
    images = [base_image(Recipe(suite, java=not words.no_java)) for suite in words.suite]
    lab = Lab.create(words.name, words.hosts, *images)
    lab = lab.keep(Process.of(words.owner) if words.owner else None)
    for host in lab.hosts:
        print(f"{host.name}  {host.address}")
    print(f"inventory  {lab.inventory}\ninside     ip netns exec {lab.network.namespace} COMMAND", file=sys.stderr)


def status(words: argparse.Namespace) -> None:
    """Show every lab on this machine."""
    print(f"{'LAB':20} {'HOST':6} {'ADDRESS':14} {'STATE':7} INVENTORY")
    for lab in Lab.all():
        for host in lab.hosts:
            print(f"{lab.name:20} {host.name:6} {host.address:14} {host.state:7} {lab.inventory}")


def ssh(words: argparse.Namespace) -> None:
    """Open a session on a host, or run a command there."""
    command = Lab.load(words.name).host(words.host).ssh.command(*words.command)
    os.execvpe(command[0], command, environment())


def fault(words: argparse.Namespace) -> None:
    """Let something happen to a host; without a name, list what can happen."""
    if not words.fault:
        print("\n".join(f"{usage(name)}\n    {inspect.getdoc(each)}" for name, each in FAULTS.items()))
        return
    if words.fault not in FAULTS:
        raise LabError(f"there is no fault {words.fault}", resolution="./run lab fault")
    call(Lab.load(words.name), FAULTS[words.fault], words.arguments)


def down(words: argparse.Namespace) -> None:
    """Take a lab away, or with --all every lab on this machine."""
    for lab in Lab.all() if words.all else [Lab.load(words.name)]:
        lab.down()


def call(lab: Lab, fault: Callable[..., None], arguments: list[str]) -> None:
    """Call a fault with words from the command line, each made into what the fault wants."""
    try:
        inspect.signature(fault).bind(*arguments)
    except TypeError:
        raise LabError(f"usage: fault {usage(fault.__name__)}") from None
    kinds = [kind for name, kind in get_type_hints(fault).items() if name != "return"]
    make: dict[type, Callable[[str], object]] = {Host: lab.host, int: int, str: str}
    fault(*(make[kind](word) for kind, word in zip(kinds, arguments, strict=False)))


def usage(name: str) -> str:
    """How a fault is called."""
    parameters = inspect.signature(FAULTS[name]).parameters.values()
    optional = inspect.Parameter.empty
    return " ".join([name, *(p.name.upper() if p.default is optional else f"[{p.name.upper()}]" for p in parameters)])


def suites(words: str) -> list[str]:
    """Debian releases, with commas between them."""
    found = words.split(",")
    if unknown := [suite for suite in found if suite not in JAVA]:
        raise argparse.ArgumentTypeError(f"{unknown[0]} is none of {', '.join(JAVA)}")
    return found


def parser() -> argparse.ArgumentParser:
    """The words of the command."""
    root = argparse.ArgumentParser(prog="./run lab", description=__doc__)
    verbs = root.add_subparsers(required=True, metavar="up | status | ssh | fault | down")
    for verb in (up, status, ssh, fault, down):
        own = verbs.add_parser(verb.__name__, help=inspect.getdoc(verb), description=inspect.getdoc(verb))
        own.set_defaults(verb=verb)
        own.add_argument("--name", default="lab", help="the lab's name (lab)")
        if verb is up:
            own.add_argument("hosts", type=int)
            own.add_argument(
                "--suite",
                type=suites,
                default="bookworm",
                help="the hosts' Debian release, or several in turn (bookworm)",
            )
            own.add_argument("--owner", type=int, metavar="PID", help="the process whose end takes the lab away")
            own.add_argument("--no-java", action="store_true", help="hosts without Java")
        if verb is ssh:
            own.add_argument("host")
            own.add_argument("command", nargs=argparse.REMAINDER)
        if verb is fault:
            own.add_argument("fault", nargs="?")
            own.add_argument("arguments", nargs="*")
        if verb is down:
            own.add_argument("--all", action="store_true", help="every lab on this machine")
    return root


def main(arguments: list[str]) -> int:
    """Do what the words say; errors are one line, details, and what to try."""
    try:
        check(os.geteuid(), missing_packages)
        if arguments[:1] == ["guard"]:
            guard(arguments[1])
            return 0
        words = parser().parse_args(arguments)
        reap()
        words.verb(words)
    except LabError as error:
        details = "".join(f"  {line}\n" for line in error.details.splitlines())
        advice = f"  try: {error.resolution}\n" if error.resolution else ""
        print(f"error: {error.message}\n{details}{advice}", end="", file=sys.stderr)
        return int(error.exit_code)
    except KeyboardInterrupt:
        print("interrupted; nothing is left of what was begun", file=sys.stderr)
        return 130
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))
