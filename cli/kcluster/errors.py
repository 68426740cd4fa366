"""The kinds of errors, each with its exit code."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from enum import IntEnum
from typing import ClassVar


class ExitCode(IntEnum):
    """The exit codes of every command (shared/design.md section 7)."""

    DONE = 0
    BUG = 1
    USAGE = 2
    CHANGES = 2  # only of `plan --exit-code`, as of `terraform plan -detailed-exitcode`
    INVENTORY = 3
    NO = 4
    APPLY = 5
    UNREACHABLE = 6
    LOCKED = 7
    SPARK = 8
    INTERRUPTED = 130


class KclusterError(Exception):
    """An error for the user: one line, details if there are any, and what to do.

    Raise the narrowest kind below; the kind carries the exit code.
    """

    exit_code: ClassVar[ExitCode] = ExitCode.BUG

    def __init__(
        self, message: str, *, details: str = "", resolution: str = "", lists: Mapping[str, Sequence[str]] | None = None
    ) -> None:
        super().__init__(message)
        self.message = message
        self.details = details
        self.resolution = resolution
        self.lists = lists or {}
        """What `details` names the first of, complete, by what it is about: `--output json` shows it."""


class UsageError(KclusterError):
    """The command line asks for something that does not exist or does not fit."""

    exit_code = ExitCode.USAGE


class InventoryError(KclusterError):
    """The inventory cannot be read or was refused."""

    exit_code = ExitCode.INVENTORY


class RefusedError(KclusterError):
    """The state of the cluster does not allow it: a topic that exists, a release that does not verify."""

    exit_code = ExitCode.NO


class ApplyError(KclusterError):
    """A change was begun and did not succeed."""

    exit_code = ExitCode.APPLY


class UnreachableError(KclusterError):
    """A broker, server or host does not answer."""

    exit_code = ExitCode.UNREACHABLE


class LockedError(KclusterError):
    """Another run works on the same cluster."""

    exit_code = ExitCode.LOCKED


class SparkError(KclusterError):
    """A job on Spark did not start, or failed."""

    exit_code = ExitCode.SPARK
