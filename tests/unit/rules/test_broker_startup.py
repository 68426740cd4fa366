"""The borders of what a broker checks at startup."""

from __future__ import annotations

from dataclasses import replace

import pytest

from kcluster.rules import broker_startup
from tests.unit.rules.sound_cluster import cluster


@pytest.mark.parametrize(
    ("value", "fine"), [("User:a;User:b", True), ("User:CN=a,OU=b", True), ("user:a", False), ("User:a, User:b", False)]
)
def test_super_users_are_separated_by_semicolons(value: str, fine: bool) -> None:
    assert (list(broker_startup.super_users_well_formed(cluster(super_users=value))) == []) is fine


def test_an_unlimited_queue_fits_every_request() -> None:
    assert list(broker_startup.dependent_limits_ordered(cluster(queued_max_request_bytes="-1"))) == []


def test_the_mechanism_between_brokers_is_one_of_their_own_listener() -> None:
    sound = cluster(
        sasl_mechanism_inter_broker_protocol="PLAIN",
        sasl_enabled_mechanisms="SCRAM-SHA-512",
        listener_name_internal_sasl_enabled_mechanisms="PLAIN,SCRAM-SHA-512",
    )
    with_sasl = replace(
        sound,
        brokers=tuple(
            replace(each, listeners=tuple(replace(one, protocol="SASL_SSL") for one in each.listeners))
            for each in sound.brokers
        ),
    )
    assert list(broker_startup.inter_broker_mechanism_enabled(with_sasl)) == []
