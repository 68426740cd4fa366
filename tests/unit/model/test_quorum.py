"""Cluster ids have the form that Kafka gives them."""

from __future__ import annotations

import re

from kcluster.model.quorum import new_cluster_id


def test_a_new_cluster_id_is_what_kafka_would_make() -> None:
    ids = {new_cluster_id() for _ in range(200)}
    assert len(ids) == 200
    assert all(re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]{21}", cluster_id) for cluster_id in ids)
