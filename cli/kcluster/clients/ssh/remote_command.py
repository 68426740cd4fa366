"""A command that runs on a host: what it says as it says it, what it is told, and its end."""

from __future__ import annotations

import codecs
import select
import time
from collections.abc import Callable, Iterator
from types import TracebackType
from typing import TYPE_CHECKING, NamedTuple

from kcluster.clients.ssh.login import CommandResult
from kcluster.clients.ssh.sudo import PROMPT, Wrapped
from kcluster.errors import UnreachableError

if TYPE_CHECKING:
    import paramiko

_AT_ONCE = 65536
_CODE_SECONDS = 0.5


class OutputChunk(NamedTuple):
    """A piece of output: a line without its end, or its last part."""

    text: str
    error: bool = False
    """Whether it was said on stderr."""


class RemoteCommand:
    """One command on one host; close it, and it ends there too."""

    def __init__(
        self, name: str, channel: paramiko.Channel, wrapped: Wrapped, end: Callable[[int], None], within: float
    ) -> None:
        self.name = name
        self._channel = channel
        self._wrapped = wrapped
        self._end = end
        self._within = within
        self._deadline = time.monotonic() + within
        self._waiting = select.poll()
        self._waiting.register(channel.fileno(), select.POLLIN)
        self._preamble = b""
        self._early = b""
        self._closed = False

    @property
    def closed(self) -> bool:
        """Whether it was closed."""
        return self._closed

    def begin(self) -> None:
        """Wait until the command itself runs; sudo may want a password first, or refuse."""
        asked = 0
        for text, error in self._pieces():
            if not error:  # its first words may overtake what was said on stderr before
                self._early += text
                continue
            self._preamble += text
            if self._wrapped.begun(self._preamble):
                return
            if self._preamble.count(PROMPT) > asked:
                asked += 1
                if asked > 1:
                    break
                self._send(self._wrapped.password.encode() + b"\n")
        if self._wrapped.sudo:
            raise self._wrapped.refusal(self.name, self._preamble, asked)

    def write(self, text: str | bytes) -> None:
        """Say something to the command."""
        self._send(text.encode() if isinstance(text, str) else text)

    def finish(self, text: str = "") -> None:
        """Say the last thing to the command."""
        self._send(text.encode())
        self._guarded(self._channel.shutdown_write)

    def answer(self) -> CommandResult:
        """Everything it says, when it has ended."""
        said = {False: bytearray(), True: bytearray()}
        for text, error in self._all():
            said[error] += text
        return CommandResult(self.code, said[False].decode(errors="replace"), said[True].decode(errors="replace"))

    def output(self) -> Iterator[bytes]:
        """What it says on stdout, as it comes."""
        return (text for text, error in self._all() if text and not error)

    def lines(self) -> Iterator[OutputChunk]:
        """Each line as it comes."""
        rest = {False: "", True: ""}
        decoders = {error: codecs.getincrementaldecoder("utf-8")("replace") for error in rest}
        for text, error in self._all():
            *whole, rest[error] = (rest[error] + decoders[error].decode(text)).split("\n")
            yield from (OutputChunk(line, error) for line in whole)
        yield from (OutputChunk(text, error) for error, text in rest.items() if text)

    @property
    def code(self) -> int:
        """The code it ended with; waits for it."""
        while not self._channel.status_event.wait(max(0.0, min(self._left(), 1.0))):
            if self._left() <= 0:
                raise self._late()
        if self._channel.exit_status < 0:
            raise self._lost()
        return int(self._channel.exit_status)

    def close(self) -> None:
        """End the command, if it has not ended by itself."""
        if self._closed:
            return
        self._closed = True
        if not self._ended() and self._channel.get_transport().is_active():
            group = self._wrapped.group(self._preamble)
            if group:
                self._end(group)
        self._channel.close()

    def _ended(self) -> bool:
        """Whether its code is there; with the end of its output it is about to come."""
        return self._channel.status_event.wait(_CODE_SECONDS if self._channel.eof_received else 0)

    def __enter__(self) -> RemoteCommand:
        """As it is."""
        return self

    def __exit__(
        self, kind: type[BaseException] | None, problem: BaseException | None, trace: TracebackType | None
    ) -> None:
        """Close it."""
        self.close()

    def _all(self) -> Iterator[tuple[bytes, bool]]:
        """What the command says, with what arrived while it began."""
        yield self._wrapped.left(self._preamble), True
        yield self._early, False
        yield from self._pieces()

    def _pieces(self) -> Iterator[tuple[bytes, bool]]:
        """What arrives, and whether on stderr, until both ends are closed."""
        channel = self._channel
        while True:
            ended = channel.eof_received or channel.closed  # looked at before what is there is taken
            while channel.recv_stderr_ready():
                yield channel.recv_stderr(_AT_ONCE), True
            while channel.recv_ready():
                yield channel.recv(_AT_ONCE), False
            if ended:
                return
            self._wait()

    def _wait(self) -> None:
        left = self._left()
        if left <= 0:
            raise self._late()
        self._waiting.poll(min(left, 3600.0) * 1000)

    def _left(self) -> float:
        return self._deadline - time.monotonic()

    def _send(self, data: bytes) -> None:
        if data:
            self._channel.settimeout(max(0.1, min(self._left(), 3600.0)))
            self._guarded(lambda: self._channel.sendall(data))

    def _guarded(self, action: Callable[[], None]) -> None:
        """A command may end without reading all it was told: that is its own affair, its code says so."""
        try:
            action()
        except OSError as problem:
            if not self._channel.get_transport().is_active():
                raise self._lost() from problem

    def _late(self) -> UnreachableError:
        return UnreachableError(
            f"{self.name}: no answer within {self._within:g} s",
            resolution=f"look what the host is busy with: kcluster exec -i INV {self.name} -- top -bn1",
        )

    def _lost(self) -> UnreachableError:
        return UnreachableError(
            f"{self.name}: the connection was lost while a command ran",
            resolution="the command may go on there; run this again when the host answers",
        )
