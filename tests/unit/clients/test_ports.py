from __future__ import annotations

import os
import socket

import pytest

from kcluster.clients import ports


@pytest.fixture
def server():
    with socket.create_server(("127.0.0.1", 0)) as door:
        yield door.getsockname()[1]


def test_a_port_somebody_listens_on_is_not_free(server):
    assert not ports.free(server)
    assert ports.answers("127.0.0.1", server)


def test_the_holder_is_named(server):
    found = ports.holder(server)
    assert found
    assert found.pid == os.getpid()
    assert str(found) == ports.described(server)
    assert f"(pid {os.getpid()})" in str(found)
    assert ports.held_by(os.getpid(), server)
    assert not ports.held_by(1, server)


def test_a_port_nobody_listens_on_is_free():
    with socket.create_server(("127.0.0.1", 0)) as door:
        port = door.getsockname()[1]
    assert ports.free(port)
    assert not ports.answers("127.0.0.1", port)
    assert ports.holder(port) is None


def test_a_reserved_port_is_refused_to_the_next_until_it_is_let_go():
    with ports.Reservation() as first, ports.Reservation() as second:
        assert first.take(21399)
        assert first.take(21399)
        assert not second.take(21399)
    with ports.Reservation() as third:
        assert third.take(21399)
