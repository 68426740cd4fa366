"""One Kafka connection: its settings, and its errors as those of kcluster."""

from __future__ import annotations

import re
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import cache, cached_property
from typing import TYPE_CHECKING, Any, TypeVar

from kcluster import interrupt
from kcluster.errors import KclusterError, RefusedError, UnreachableError, UsageError

if TYPE_CHECKING:
    from concurrent.futures import Future

    from confluent_kafka import Consumer, Producer
    from confluent_kafka.admin import AdminClient
    from confluent_kafka.admin._metadata import ClusterMetadata

T = TypeVar("T")
K = TypeVar("K")

ANSWER_WITHIN = 3.5
"""Seconds in which a cluster answers or is called unreachable; people wait, scripts must not hang."""

_SAID_IN = "the file after --client-config, or kafka_client_properties of the inventory"
_CREDENTIALS = f"correct user, password or sasl.mechanism in {_SAID_IN}"
_CERTIFICATES = f"correct security.protocol or the certificates (ssl.truststore.location, ...) in {_SAID_IN}"
_ALL_DOWN = "_ALL_BROKERS_DOWN"
_RUN_CALLBACKS = ("poll", "consume", "flush", "commit", "committed", "unsubscribe", "close")
_WHEN = re.compile(r" \(after \d+ms in state .*\)$")
"""Makes each line of librdkafka another one, though it says the same."""


@dataclass
class Kafka:
    """A Kafka cluster as a client sees it."""

    bootstrap: str
    config: Mapping[str, str] = field(default_factory=dict)
    """Further librdkafka properties: security and whatever --client-config says."""
    _faults: list[str] = field(default_factory=list, init=False, repr=False)

    def settings(self, **more: Any) -> dict[str, Any]:
        """The configuration of any client: quiet on stderr, quick to notice a dead address."""
        return {
            "bootstrap.servers": self.bootstrap,
            "client.id": "kcluster",
            "log_level": 0,
            "socket.connection.setup.timeout.ms": 3000,
            # A host without power never answers: what it was sent goes elsewhere after so long (decision 20).
            "socket.timeout.ms": 4000,
            # 100 ms by default, of which half is waited even before the very first connection.
            "reconnect.backoff.ms": 10,
            "reconnect.backoff.max.ms": 1000,
            "error_cb": self._note_fault,
            **self.config,
            **more,
        }

    @cached_property
    def admin(self) -> AdminClient:
        """The admin client, made when it is first needed."""
        from confluent_kafka.admin import AdminClient

        return self._made(AdminClient, self.settings())

    def producer(self, **more: Any) -> Producer:
        """A producer on this cluster."""
        from confluent_kafka import Producer

        return self._made(Producer, self.settings(**more))

    def consumer(self, **more: Any) -> Consumer:
        """A consumer on this cluster."""
        from confluent_kafka import Consumer

        return self._made(Consumer, self.settings(**more))

    def _made(self, kind: Callable[[dict[str, Any]], T], settings: dict[str, Any]) -> T:
        """A client; librdkafka refuses a property it does not know or whose value does not fit."""
        from confluent_kafka import KafkaException

        interruptible: Callable[[dict[str, Any]], T] = _interruptible(kind)
        try:
            return interrupt.uninterrupted(lambda: interruptible(settings))
        except KafkaException as problem:
            raise UsageError(
                f"the client configuration is refused: {problem.args[0].str()}",
                resolution=f"correct {_SAID_IN}",
            ) from problem

    def metadata(self, topic: str | None = None, *, within: float = ANSWER_WITHIN) -> ClusterMetadata:
        """Brokers, topics and partitions; the first question to a cluster, so it finds out whether it answers."""
        from confluent_kafka import KafkaException

        deadline = time.monotonic() + within
        self.admin.poll(0)
        self._faults[:] = [fault for fault in self._faults if not fault.startswith(_ALL_DOWN)]  # of another time
        while True:
            # Short rounds, because librdkafka reports a refused address through `poll` and would go on trying.
            try:
                return self.admin.list_topics(topic, timeout=0.5) if topic else self.admin.list_topics(timeout=0.5)
            except KafkaException as problem:
                self.admin.poll(0)
                if self._all_down() or time.monotonic() > deadline:
                    raise self._unreachable(problem) from problem

    def wait(self, future: Future[T], *, timeout: float = 15.0) -> T:
        """The answer of an admin call, or its error in kcluster's words."""
        from confluent_kafka import KafkaException

        try:
            return future.result(timeout)
        except KafkaException as problem:
            raise self.translate(problem) from problem
        except TimeoutError as problem:
            raise self._unreachable(problem) from problem

    def wait_each(self, futures: Mapping[K, Future[T]]) -> dict[K, T]:
        """The answers of one admin call about several things; the first error counts."""
        return {key: self.wait(future) for key, future in futures.items()}

    def until(self, ask: Callable[[], T | None], within: float = 10.0) -> T | None:
        """Ask until there is an answer or the time is up: changes reach the brokers one after the other."""
        deadline = time.monotonic() + within
        while (answer := ask()) is None and time.monotonic() < deadline:
            self.admin.poll(0.05)
        return answer

    def translate(self, problem: Exception) -> KclusterError:
        """What a KafkaException means for the user."""
        code: Any = problem.args[0] if problem.args else None
        name = code.name() if hasattr(code, "name") else ""
        if name in ("_TRANSPORT", "_ALL_BROKERS_DOWN", "_TIMED_OUT", "_RESOLVE", "REQUEST_TIMED_OUT"):
            return self._unreachable(problem)
        message = code.str() if hasattr(code, "str") else str(problem)
        if "AUTHORIZATION_FAILED" in name:
            return RefusedError(
                f"no permission: {message}",
                resolution="ask for an ACL for this user, or pass another user with --client-config",
            )
        return RefusedError(f"the cluster refused it: {message}", details=name)

    def _note_fault(self, fault: Any) -> None:
        self._faults.append(f"{fault.name()} {fault.str()}")

    def _all_down(self) -> bool:
        return any(fault.startswith(_ALL_DOWN) for fault in self._faults)

    def _unreachable(self, problem: Exception) -> KclusterError:
        """Why nobody answers; a login or a certificate that is refused is an answer."""
        told = [fault.partition(" ") for fault in self._faults if not fault.startswith(_ALL_DOWN)]
        kinds = {kind for kind, _, _ in told}
        reasons = list(dict.fromkeys(_WHEN.sub("", reason) for _, _, reason in told))
        details = "\n".join(reasons[-3:])
        if "_AUTHENTICATION" in kinds:
            return RefusedError(f"the login at {self.bootstrap} is refused", details=details, resolution=_CREDENTIALS)
        if "_SSL" in kinds or "SSL routines" in details:  # the second after a handshake, by TLS 1.3
            return RefusedError(f"TLS to {self.bootstrap} fails", details=details, resolution=_CERTIFICATES)
        return UnreachableError(
            f"no broker answers at {self.bootstrap}",
            details=details or str(problem),
            resolution="check the address, and that the cluster runs: kcluster status",
        )


@cache
def _interruptible(kind: Any) -> Any:
    """A kind of client in whose callbacks Ctrl-C raises nothing: librdkafka would lose it, and return no result."""

    def method(name: str) -> Callable[..., Any]:
        original = getattr(kind, name)
        return lambda *arguments, **named: interrupt.uninterrupted(original, *arguments, **named)

    return type(kind.__name__, (kind,), {name: method(name) for name in _RUN_CALLBACKS if hasattr(kind, name)})
