from __future__ import annotations

import socket
import threading
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager

import pytest

from kcluster.clients import zookeeper
from kcluster.errors import RefusedError, UnreachableError

SRVR = "Zookeeper version: 3.8.4\nLatency min/avg/max: 0/0.7/5\nMode: follower\nNode count: 5\n"
MNTR = "zk_version\t3.8.4-9316\nzk_server_state\tleader\nzk_synced_followers\t2\nzk_quorum_size\t3\n"
NOT_SERVING = "This ZooKeeper instance is not currently serving requests\n"
NOT_ALLOWED = "mntr is not executed because it is not in the whitelist.\n"


@contextmanager
def server(reply: Callable[[socket.socket, str], None]) -> Iterator[int]:
    """A server for one question."""
    with socket.create_server(("127.0.0.1", 0)) as door:

        def serve() -> None:
            connection, _ = door.accept()
            with connection:
                reply(connection, connection.recv(4).decode())

        thread = threading.Thread(target=serve)
        thread.start()
        yield door.getsockname()[1]
        thread.join()


def answering(text: str) -> Callable[[socket.socket, str], None]:
    return lambda connection, _: connection.sendall(text.encode())


def closed_port() -> int:
    with socket.create_server(("127.0.0.1", 0)) as door:
        return int(door.getsockname()[1])


def test_the_mode_is_read_from_srvr() -> None:
    asked = []

    def reply(connection: socket.socket, word: str) -> None:
        asked.append(word)
        connection.sendall(SRVR.encode())

    with server(reply) as port:
        assert zookeeper.mode("127.0.0.1", port) == "follower"
    assert asked == ["srvr"]


@pytest.mark.parametrize("text", [NOT_SERVING, NOT_ALLOWED, "", "something else\n"])
def test_a_server_that_does_not_serve_has_no_mode(text: str) -> None:
    with server(answering(text)) as port:
        assert zookeeper.mode("127.0.0.1", port) == ""


@pytest.mark.parametrize(("text", "role"), [(NOT_SERVING, zookeeper.NO_QUORUM), (NOT_ALLOWED, ""), ("", "")])
def test_a_server_without_a_quorum_says_so(text: str, role: str) -> None:
    with server(answering(text)) as port:
        assert zookeeper.role("127.0.0.1", port) == role


def test_nobody_there_has_no_mode() -> None:
    assert zookeeper.mode("127.0.0.1", closed_port()) == ""


def test_what_mntr_says_is_a_mapping() -> None:
    with server(answering(MNTR)) as port:
        told = zookeeper.monitor("127.0.0.1", port)
    assert told["zk_server_state"] == "leader"
    assert told["zk_synced_followers"] == "2"


def test_an_answer_in_pieces_is_put_together() -> None:
    def slowly(connection: socket.socket, _: str) -> None:
        for part in (MNTR[:20], MNTR[20:]):
            connection.sendall(part.encode())

    with server(slowly) as port:
        assert zookeeper.monitor("127.0.0.1", port)["zk_quorum_size"] == "3"


def test_a_question_that_is_not_whitelisted_says_what_to_do() -> None:
    with (
        server(answering(NOT_ALLOWED)) as port,
        pytest.raises(RefusedError, match="does not allow the command mntr") as told,
    ):
        zookeeper.monitor("127.0.0.1", port)
    assert "4lw.commands.whitelist" in told.value.resolution


def test_a_server_without_a_majority_says_so() -> None:
    with server(answering(NOT_SERVING)) as port, pytest.raises(RefusedError, match="runs but does not serve"):
        zookeeper.monitor("127.0.0.1", port)


def test_a_refused_connection_is_named() -> None:
    port = closed_port()
    with pytest.raises(UnreachableError, match=f"127.0.0.1:{port}: Connection refused"):
        zookeeper.monitor("127.0.0.1", port)


def test_a_server_that_never_answers_is_left_after_the_deadline() -> None:
    over = threading.Event()
    started = time.monotonic()
    with server(lambda connection, _: (over.wait(60), None)[1]) as port:
        with pytest.raises(UnreachableError, match="no answer in time"):
            zookeeper.monitor("127.0.0.1", port, within=0.2)
        over.set()
    assert time.monotonic() - started < 30


def test_several_servers_are_asked_and_each_has_its_answer_or_reason() -> None:
    with server(answering(MNTR)) as port:
        good, bad = zookeeper.monitors([("127.0.0.1", port), ("127.0.0.1", closed_port())])
    assert isinstance(good, dict)
    assert isinstance(bad, UnreachableError)
