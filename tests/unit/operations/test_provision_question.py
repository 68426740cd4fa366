"""What may happen while the question waits for its answer."""

from __future__ import annotations

from types import SimpleNamespace
from typing import Any

import pytest

from kcluster.errors import RefusedError
from kcluster.operations import provision as operation


def test_a_plan_is_not_carried_out_when_the_lock_was_lost_meanwhile() -> None:
    lock: Any = SimpleNamespace(lost=())
    operation.refuse_lost_lock("trio", lock)
    lock.lost = ("h2",)
    with pytest.raises(RefusedError, match="the lock of trio was lost") as refused:
        operation.refuse_lost_lock("trio", lock)
    assert "h2" in refused.value.details
