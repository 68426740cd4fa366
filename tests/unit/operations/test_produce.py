"""What is said about records that were sent."""

from __future__ import annotations

from kcluster.operations.produce import Produced


def test_acks_0_is_never_called_acknowledged() -> None:
    assert list(Produced("t", 2, None).view()) == ["2 records sent to t, not acknowledged (acks=0)"]
    assert list(Produced("t", 1, 1).view()) == ["1 record acknowledged by t"]
    assert Produced("t", 1, 1, interrupted=True).exit_code == 130
