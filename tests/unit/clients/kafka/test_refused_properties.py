"""What librdkafka refuses in a user's properties is a wrong command line, not a bug."""

from __future__ import annotations

import pytest

from kcluster.clients.kafka import Kafka
from kcluster.errors import UsageError


@pytest.mark.parametrize("config", [{"no.such.property": "1"}, {"security.protocol": "CARRIER_PIGEON"}])
def test_a_property_that_is_refused_is_told(config: dict[str, str]) -> None:
    with pytest.raises(UsageError, match="the client configuration is refused") as caught:
        _ = Kafka("localhost:1", config).admin
    assert next(iter(config)) in caught.value.message
