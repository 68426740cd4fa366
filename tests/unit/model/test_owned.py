"""Properties that cannot be set by hand, and the words that decide them."""

from __future__ import annotations

from kcluster.model.owned import word_for


def test_the_word_of_an_owned_property_is_named() -> None:
    assert word_for("advertised.listeners") == "kafka_listeners"
    assert word_for("server.3").startswith("the group zookeeper")


def test_other_properties_are_free_also_when_they_look_alike() -> None:
    assert word_for("min.insync.replicas") == ""
    assert word_for("server.max.startup.time.ms") == ""
