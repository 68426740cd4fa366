"""Ctrl-C is noticed, and only the second one hurts."""

from __future__ import annotations

import os
import signal
import threading
import time

import pytest

from kcluster import interrupt
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


@pytest.mark.parametrize("number", [signal.SIGINT, signal.SIGTERM, signal.SIGHUP])
def test_a_signal_becomes_an_interrupt_and_the_old_handler_comes_back(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt), interrupt.raised(signal.SIGTERM, signal.SIGHUP):
        os.kill(os.getpid(), number)
    assert signal.getsignal(number) is before


def test_ctrl_c_in_a_finalizer_is_raised_after_it() -> None:
    class Finalized:
        def __del__(self) -> None:
            os.kill(os.getpid(), signal.SIGINT)

    def finalize() -> None:
        Finalized()
        threading.Event().wait(10)

    with interrupt.raised(), pytest.raises(KeyboardInterrupt):
        finalize()
