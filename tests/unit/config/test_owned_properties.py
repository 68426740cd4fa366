"""Properties that cannot be set by hand, and the words that decide them."""

from __future__ import annotations

from kcluster.config.owned_properties import variable_for


def test_the_word_of_an_owned_property_is_named() -> None:
    assert variable_for("advertised.listeners") == "kafka_listeners"
    assert variable_for("server.3").startswith("the group zookeeper")


def test_other_properties_are_free_also_when_they_look_alike() -> None:
    assert variable_for("min.insync.replicas") == ""
    assert variable_for("server.max.startup.time.ms") == ""
