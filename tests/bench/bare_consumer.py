"""The yardstick of every reader: a consumer of librdkafka that counts records and keeps nothing of them."""

from __future__ import annotations

import sys

from confluent_kafka import OFFSET_BEGINNING, Consumer, TopicPartition

if __name__ == "__main__":
    bootstrap, topic, wanted = sys.argv[1:]
    consumer = Consumer({"bootstrap.servers": bootstrap, "group.id": "bench", "enable.auto.commit": False})
    partitions = consumer.list_topics(topic, timeout=10).topics[topic].partitions
    consumer.assign([TopicPartition(topic, number, OFFSET_BEGINNING) for number in partitions])
    counted = 0
    while counted < int(wanted):
        counted += len(consumer.consume(10_000, timeout=1))
    consumer.close()
