"""What is said once through real Kafka: whoever has the same name, whatever brokers forget, and after an upgrade."""

from __future__ import annotations

import random
from typing import Any

import pytest
from confluent_kafka import Consumer, KafkaException, Producer, TopicPartition

from spark_jobs.ingest.topic_reader import TopicReader
from spark_jobs.runtime.error_causes import meaning_and_advice
from spark_jobs.runtime.publisher import NumberedMessage, Publisher
from tests.integration.conftest import Live
from tests.spark.conftest import until


def publisher(kraft: Live, topic: str, log: str) -> Publisher:
    return Publisher("kcluster-job-same", log, topic, {"bootstrap.servers": kraft.bootstrap})


def say(publisher: Publisher, number: int, value: bytes = b"x") -> None:
    publisher.send(lambda: [NumberedMessage(value, None, {"log": publisher.log, "number": str(number)})], number)


def said(kraft: Live, topic: str) -> list[dict[str, str]]:
    return list(TopicReader("reader", {"bootstrap.servers": kraft.bootstrap}).dead_letter_headers(topic))


def heard(kraft: Live, topic: str) -> list[str]:
    return sorted(each["number"] for each in said(kraft, topic))


def test_jobs_of_one_name_are_not_in_each_others_way(kraft: Live) -> None:
    one, other = (publisher(kraft, "same", log) for log in ("log-one", "log-other"))
    one.ensure_topic()
    for number in (0, 1):
        for each in (one, other, one, other):  # the second time it was cut off before it knew
            say(each, number)
    assert sorted((each["log"], each["number"]) for each in said(kraft, "same")) == [
        (log, number) for log in ("log-one", "log-other") for number in ("0", "1")
    ]


def test_what_an_earlier_version_sent_is_not_sent_again(kraft: Live) -> None:
    """It committed its numbers under the name alone, and may have left a transaction open."""
    name, mine = "kcluster-job-same", publisher(kraft, "former", "log")
    mine.ensure_topic()
    settings: dict[str, Any] = {"bootstrap.servers": kraft.bootstrap}
    producer, consumer = Producer({**settings, "transactional.id": name}), Consumer({**settings, "group.id": name})
    producer.init_transactions(60)
    for number in (4, 5):
        producer.begin_transaction()
        producer.produce("former", b"x", headers={"log": "log", "number": str(number)})
        producer.flush(60)
        place = TopicPartition("former", 0, number + 1, "log")
        producer.send_offsets_to_transaction([place], consumer.consumer_group_metadata(), 60)
        if number == 4:
            producer.commit_transaction(60)
    consumer.close()
    for number in (4, 5, 6):
        say(mine, number)
    until(lambda: heard(kraft, "former") == ["4", "5", "6"], "each number once")


def test_a_message_larger_than_the_topic_allows_fails_at_once(kraft: Live) -> None:
    kraft.run("topic", "create", "narrow", "-c", "max.message.bytes=100000", "-n", kraft.name)
    narrow = publisher(kraft, "narrow", "log")
    with pytest.raises(KafkaException) as refused:
        say(narrow, 0, random.Random(1).randbytes(2_000_000))
    meaning, advice = meaning_and_advice(refused.value)
    assert meaning.startswith("a record is larger than max.message.bytes of the topic")
    assert "max.message.bytes" in advice
