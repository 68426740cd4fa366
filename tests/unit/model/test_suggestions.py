"""Which known name was meant."""

from __future__ import annotations

from kcluster.config.property_tables import table
from kcluster.inventory.schema import VARIABLES
from kcluster.model.suggestions import meant, nearest


def test_the_best_come_first_whatever_their_case() -> None:
    assert nearest("Orders", ["payments", "orders-eu", "orders"]) == ["orders", "orders-eu"]
    assert nearest("zzz", ["orders"]) == []


def test_nothing_is_said_to_be_meant_that_is_far_away() -> None:
    assert meant("kafka_listner", VARIABLES) == "kafka_listeners"
    assert meant("min.insync.replica", table("3.9.2")) == "min.insync.replicas"
    assert meant("log.retention.hour", table("4.2.0")) == "log.retention.hours"
    assert meant("something_else", VARIABLES) == ""
    assert meant("completely.different.thing", table("3.9.2")) == ""
