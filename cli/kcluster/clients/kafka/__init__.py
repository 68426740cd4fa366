"""The door to Kafka: the connection, and what is asked through it about topics and groups."""

from kcluster.clients.kafka.connection import ANSWER_WITHIN, Kafka

__all__ = ["ANSWER_WITHIN", "Kafka"]
