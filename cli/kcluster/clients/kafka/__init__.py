"""The client of Kafka: the connection, and requests about topics, groups and brokers."""

from kcluster.clients.kafka.connection import ANSWER_WITHIN, Kafka

__all__ = ["ANSWER_WITHIN", "Kafka"]
