"""Losing records that were acknowledged, really: what a proof must notice."""

from __future__ import annotations

import time

from confluent_kafka import TopicPartition

from kcluster.clients.kafka import Kafka
from kcluster.errors import RefusedError


def lose_records(kafka: Kafka, topic: str, partition: int, before: int) -> None:
    """Delete them; asked again while the broker that answers has not heard of the new topic's leaders."""
    deadline = time.monotonic() + 15
    while True:
        fresh = Kafka(kafka.bootstrap, kafka.config)  # a client keeps for half a minute that it found no leader
        (answer,) = fresh.admin.delete_records([TopicPartition(topic, partition, before)]).values()
        try:
            fresh.wait(answer)
            return
        except RefusedError as problem:
            if "No leaders found" not in problem.message or time.monotonic() > deadline:
                raise
            time.sleep(0.1)
