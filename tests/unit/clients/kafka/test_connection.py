"""What Kafka's errors become, and how fast a dead address is noticed."""

import os
import signal
import socket
import time
from concurrent.futures import Future
from functools import partial

import pytest
from confluent_kafka import KafkaError, KafkaException

from kcluster import interrupt
from kcluster.clients.kafka import Kafka
from kcluster.errors import RefusedError, UnreachableError

KAFKA = Kafka("127.0.0.1:1")


def said(code):
    return KAFKA.translate(KafkaException(KafkaError(code)))


@pytest.mark.parametrize("code", [KafkaError._TRANSPORT, KafkaError._TIMED_OUT, KafkaError._ALL_BROKERS_DOWN])
def test_no_answer_is_unreachable(code):
    assert isinstance(said(code), UnreachableError)


@pytest.mark.parametrize(
    "code",
    [
        KafkaError.TOPIC_AUTHORIZATION_FAILED,
        KafkaError.CLUSTER_AUTHORIZATION_FAILED,
        KafkaError.GROUP_AUTHORIZATION_FAILED,
    ],
)
def test_a_missing_right_is_said_as_no_permission(code):
    problem = said(code)
    assert isinstance(problem, RefusedError)
    assert problem.message.startswith("no permission: ")
    assert "ACL" in problem.resolution


def test_every_other_error_is_a_no_with_kafkas_name_for_it():
    problem = said(KafkaError.INVALID_PARTITIONS)
    assert problem.message.startswith("the cluster refused it: ")
    assert problem.details == "INVALID_PARTITIONS"


def test_an_answer_that_never_comes_is_unreachable():
    with pytest.raises(UnreachableError):
        KAFKA.wait(Future(), timeout=0.01)


def free_port():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        return listening.getsockname()[1]


def test_a_refused_address_is_noticed_before_the_time_is_up():
    begun = time.monotonic()
    with pytest.raises(UnreachableError, match="no broker answers") as caught:
        Kafka(f"127.0.0.1:{free_port()}").metadata(within=60)
    assert time.monotonic() - begun < 30  # half a second on a quiet machine
    assert "refused" in caught.value.details


def test_a_silent_address_is_given_up_in_seconds():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        begun = time.monotonic()
        with pytest.raises(UnreachableError):
            Kafka(f"127.0.0.1:{listening.getsockname()[1]}").metadata()
        assert time.monotonic() - begun < 12


def test_an_outage_of_before_does_not_shorten_the_patience_with_the_next_question():
    with socket.create_server(("127.0.0.1", 0)) as listening:
        kafka = Kafka(f"127.0.0.1:{listening.getsockname()[1]}")
        kafka._faults.append("_ALL_BROKERS_DOWN 3/3 brokers are down")
        begun = time.monotonic()
        with pytest.raises(UnreachableError):
            kafka.metadata(within=1.5)
        assert time.monotonic() - begun >= 1.5


def test_asking_again_ends_with_the_first_answer_or_with_the_time():
    answers = iter([None, "here"])
    assert KAFKA.until(lambda: next(answers)) == "here"
    assert KAFKA.until(lambda: None, within=0.01) is None


def test_further_properties_win_over_our_own():
    settings = Kafka("h:1", {"client.id": "me", "security.protocol": "SSL"}).settings(linger=5)
    assert (settings["client.id"], settings["security.protocol"], settings["linger"]) == ("me", "SSL", 5)


@pytest.mark.parametrize(
    "calling",
    [
        lambda kafka: partial(kafka.admin.poll, 0.1),
        lambda kafka: partial(kafka.producer().poll, 0.1),
        lambda kafka: partial(kafka.producer().flush, 0.1),
        lambda kafka: partial(kafka.consumer(**{"group.id": "g"}).poll, 0.1),
        lambda kafka: partial(kafka.consumer(**{"group.id": "g"}).consume, 10, 0.1),
    ],
)
def test_ctrl_c_in_a_callback_of_librdkafka_is_an_interrupt(calling):
    kafka, hit = Kafka("127.0.0.1:1"), []

    def fault(_):
        if not hit:
            hit.append(os.kill(os.getpid(), signal.SIGINT))

    kafka._note_fault = fault
    call, until = calling(kafka), time.monotonic() + 10

    def repeat():
        while time.monotonic() < until:
            call()

    with interrupt.raised(), pytest.raises(KeyboardInterrupt):
        repeat()
    assert hit
