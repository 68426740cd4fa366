"""What tests need from elsewhere, fetched while the network is there: labs and loopback networks have no way out."""

from __future__ import annotations

from functools import cache

from kcluster.clients.spark import connector
from kcluster.model.release import Release
from kcluster.releases.fetch import fetch

EVERY = {"format": {"kind": "avro"}, "sink": {"format": "delta"}}, {"sink": {"format": "iceberg"}}
"""Settings of jobs that together need every jar there is besides those for Kafka."""


@cache
def fetch_all() -> None:
    """Fetch the releases and the jars that are not in the cache, once in a run."""
    for version in ("3.9.2", "4.2.0"):
        fetch(Release(version), print)
    connector.kafka_jars(print)
    for asked in EVERY:
        connector.extra_jars(print, asked)
