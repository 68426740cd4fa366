"""Exactly-once writes of refused records to the dead-letter topic, with reason and origin in the headers."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from typing import Any

from spark_jobs.runtime.publisher import NumberedMessage, Publisher


class DeadLetters:
    """The writer to the dead-letter topic of one job."""

    def __init__(self, job: str, checkpoint: str, topic: str, client: Mapping[str, Any]) -> None:
        self.job = job
        self.checkpoint = checkpoint
        self._publisher = Publisher(f"kcluster-job-{job}", checkpoint, topic, client)

    def send(self, records: Callable[[], Iterable[Any]], number: int) -> None:
        """Write the refused records of a batch unless they are in the topic already; raises when the brokers fail."""
        self._publisher.send(lambda: map(self._message, records()), number)

    def _message(self, record: Any) -> NumberedMessage:
        headers = {
            "job": self.job,
            "checkpoint": self.checkpoint,
            "reason": record["_reason"],
            "topic": record["_topic"],
            "partition": str(record["_partition"]),
            "offset": str(record["_offset"]),
            "timestamp": record["_timestamp"],
        }
        return NumberedMessage(_bytes(record["_value"]), _bytes(record["_key"]), headers)


def _bytes(value: Any) -> bytes | None:
    return None if value is None else bytes(value)
