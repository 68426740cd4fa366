from __future__ import annotations

import os
import signal
from collections import Counter

import pytest

from kcluster.smoke.temporary_topic import interrupted_by_signals, replicas


@pytest.mark.parametrize("brokers", [[1], [1, 2], [1, 2, 3], [4, 7, 9, 12, 30]])
def test_each_broker_leads_one_partition_and_all_carry_the_same(brokers: list[int]) -> None:
    assignment = replicas(brokers)
    assert [copies[0] for copies in assignment] == brokers
    assert all(len(set(copies)) == min(3, len(brokers)) for copies in assignment)
    assert set(Counter(broker for copies in assignment for broker in copies).values()) == {min(3, len(brokers))}


@pytest.mark.parametrize("number", [signal.SIGTERM, signal.SIGHUP])
def test_a_signal_becomes_an_interrupt_and_the_old_handler_comes_back(number: signal.Signals) -> None:
    before = signal.getsignal(number)
    with pytest.raises(KeyboardInterrupt), interrupted_by_signals():
        os.kill(os.getpid(), number)
    assert signal.getsignal(number) is before
