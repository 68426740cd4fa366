"""The script that carries bytes to a port of its host, run on this one."""

from __future__ import annotations

import socket
import subprocess
import sys
from collections.abc import Sequence

from kcluster.clients import host_scripts


def relay(addresses: Sequence[str], port: int) -> subprocess.Popen[bytes]:
    question = {"addresses": addresses, "port": port, "within": 2.0, "connected": "here", "refused": "no: "}
    command = [sys.executable, "-IS", "-c", "exec(input())"]
    script = subprocess.Popen(command, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
    assert script.stdin
    script.stdin.write(host_scripts.line("relay", question).encode())
    script.stdin.flush()
    return script


def test_bytes_go_both_ways_until_either_end_closes() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        with relay(["127.0.0.9", "127.0.0.1"], server.getsockname()[1]) as script:
            assert script.stdin
            assert script.stdout
            connection, _ = server.accept()
            assert script.stdout.readline() == b"here\n"
            question, answer = bytes(range(256)) * 999, b"\x00\xff\n" * 99_999
            with connection:
                script.stdin.write(question)
                script.stdin.flush()
                assert connection.recv(len(question), socket.MSG_WAITALL) == question
                connection.sendall(answer)
            assert script.stdout.read() == answer
            assert script.wait(10) == 0
        with relay(["127.0.0.1"], server.getsockname()[1]) as script:
            connection, _ = server.accept()
            assert script.stdin
            script.stdin.close()
            with connection:
                assert connection.recv(1) == b""
            assert script.wait(10) == 0


def test_an_address_that_takes_no_connection_is_told_in_one_line() -> None:
    with socket.create_server(("127.0.0.1", 0)) as server:
        port = server.getsockname()[1]
    done, _ = relay(["127.0.0.9", "127.0.0.1"], port).communicate(timeout=10)
    assert done == b"no: Connection refused\n"
