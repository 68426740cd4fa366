"""Numbered records into a topic, one in a hundred of them poisonous, while a job reads it."""

from __future__ import annotations

import threading
from types import TracebackType

from confluent_kafka import Message, Producer

POISON = (b"{oops", b"", b'{"truck_id":"a","lat":99,"n":-1}')


class Feed:
    """A producer in a thread of its own; `with Feed(...)`, and afterwards `good` and `poisonous` are what it sent."""

    def __init__(self, bootstrap: str, topic: str, rate: int) -> None:
        self.topic, self.pause = topic, 1 / rate
        self.good = self.poisonous = 0
        self.failures: list[str] = []
        self._places: set[tuple[int | None, int | None]] = set()
        # One request in flight: with more, a record sent while its partition was being made was once in no log.
        self._producer = Producer(
            {"bootstrap.servers": bootstrap, "enable.idempotence": True, "linger.ms": 20, "partitioner": "random"}
            | {"topic.metadata.refresh.interval.ms": 1000, "max.in.flight.requests.per.connection": 1}
        )
        self._one = threading.Lock()
        self._end = threading.Event()
        self._thread = threading.Thread(target=self._run)

    def __enter__(self) -> Feed:
        self._thread.start()
        return self

    def __exit__(self, kind: type[BaseException] | None, error: BaseException | None, at: TracebackType | None) -> None:
        self._end.set()
        self._thread.join()
        assert self._producer.flush(120) == 0
        assert not self.failures, self.failures[:5]

    def send(self, records: int) -> None:
        """That many more."""
        for _ in range(records):
            with self._one:
                self._send()

    def _run(self) -> None:
        while not self._end.wait(self.pause):
            with self._one:
                self._send()

    def _send(self) -> None:
        number = self.good + self.poisonous
        if number % 100 == 50:
            value = POISON[number // 100 % len(POISON)]
            self.poisonous += 1
        else:
            value = b'{"truck_id":"truck-%d","lat":%d.5,"n":%d}' % (number % 7, number % 90, self.good)
            self.good += 1
        self._producer.produce(self.topic, value, key=b"%d" % number, on_delivery=self._delivered)
        self._producer.poll(0)

    def _delivered(self, error: object, message: Message) -> None:
        place = message.partition(), message.offset()
        if error is not None or place in self._places:
            self.failures.append(str(error or f"a second record at {place}"))
        self._places.add(place)
