"""Ctrl-C is noticed, and only the second one hurts."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from kcluster.interrupt import Interrupt


def test_the_first_ctrl_c_is_a_fact_and_the_second_an_exception() -> None:
    before = signal.getsignal(signal.SIGINT)
    with Interrupt() as interrupt:
        assert not interrupt.seen
        os.kill(os.getpid(), signal.SIGINT)
        assert interrupt.seen
        with pytest.raises(KeyboardInterrupt):
            os.kill(os.getpid(), signal.SIGINT)
    assert signal.getsignal(signal.SIGINT) is before


def test_waiting_for_input_ends_at_ctrl_c() -> None:
    silent, talk = os.pipe()
    with Interrupt() as interrupt:
        threading.Timer(0.05, os.kill, (os.getpid(), signal.SIGINT)).start()
        began = time.monotonic()
        assert not interrupt.readable(silent, 10)
        assert time.monotonic() - began < 5
    os.close(silent)
    os.close(talk)


def test_input_that_is_there_is_seen() -> None:
    source, talk = os.pipe()
    with Interrupt() as interrupt:
        assert not interrupt.readable(source, 0)
        os.write(talk, b"x")
        assert interrupt.readable(source, 0)
    os.close(source)
    os.close(talk)
