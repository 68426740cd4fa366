"""For the action `destroyed`: what a host is asked about the cluster that is removed from it."""

from __future__ import annotations

import json
from collections.abc import Iterable, Mapping
from typing import Any

from kcluster.model.cluster import Cluster
from kcluster.operations.destroy.survey import DestroyPart, common_id, survey_query

LOOK = "look"
PARTS = (LOOK, *DestroyPart)


def question(
    cluster: Cluster, host: str, part: str, *, surveys: Iterable[Mapping[str, Any]], delete_data: bool
) -> str | None:
    """The question for one part, as JSON; None when the cluster has nothing on this host.

    `surveys` are what all hosts returned for the part LOOK.
    """
    its_host = next((each for each in cluster.every_host if each.name == host), None)
    if its_host is None:
        return None
    parts = list(DestroyPart) if part == LOOK else [DestroyPart(part)]
    ids = [data["cluster_id"] for survey in surveys for data in survey.get("found", {}).get("data", [])]
    return json.dumps(survey_query(cluster, its_host, parts, cluster_id=common_id(ids), delete_data=delete_data))
