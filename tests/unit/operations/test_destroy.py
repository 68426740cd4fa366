from __future__ import annotations

import json
from typing import Any

import pytest

from kcluster.clients.ssh import Answer
from kcluster.errors import ExitCode, RefusedError, UnreachableError
from kcluster.local import shape
from kcluster.local.record import Origin
from kcluster.operations import destroy
from kcluster.operations.destroy.question import NO_COMMON_ID, Part, common_id, question

OURS = "PbWmCmMSSbSvDeFTl9mVrA"
CLUSTER = shape.cluster_of("c", Origin(brokers=1, keepers=1), "")
KEEPER, BROKER = CLUSTER.hosts


def test_the_brokers_are_one_part_and_the_keepers_another():
    parts = ([Part.BROKERS], [Part.KEEPERS], list(Part))
    assert [len(question(CLUSTER, BROKER, part)["nodes"]) for part in parts] == [1, 0, 1]
    assert [len(question(CLUSTER, KEEPER, part)["nodes"]) for part in parts] == [0, 1, 1]
    assert question(CLUSTER, BROKER, [Part.BROKERS])["folders"] == []


def test_the_clusters_id_is_the_one_that_most_brokers_share():
    assert common_id([OURS, OURS, "other", ""]) == OURS
    assert common_id(["", ""]) == ""
    assert common_id([OURS, "other"]) == NO_COMMON_ID


class Hosts:
    """Connections that give one answer for every host."""

    def __init__(self, answer: object) -> None:
        self._answer = answer

    def run(self, command: str, *, only: list[str], **_: object) -> dict[str, object]:
        return dict.fromkeys(only, self._answer)


def survey(**found: Any) -> Answer:
    return Answer(0, json.dumps({"units": [], "strangers": [], "folders": [], "data": [], **found}), "")


def data(refusal: str = "", cluster_id: str = OURS) -> dict[str, Any]:
    return {"path": "/data", "size": 5 << 20, "cluster_id": cluster_id, "refusal": refusal}


def test_nothing_is_left_when_only_data_is_there_that_stays():
    found = destroy.seen(CLUSTER, Hosts(survey(data=[data()])), delete_data=False)
    assert (found.nothing, found.kept) == (True, ("zookeeper1:/data", "broker1:/data"))
    assert list(found.view())[-1] == "c: nothing is left to remove"


def test_data_that_would_be_left_is_named_before_anybody_is_asked():
    found = destroy.seen(CLUSTER, Hosts(survey(units=["kafka"], data=[data("holds photos")])), delete_data=True)
    assert (found.nothing, found.exit_code) == (False, ExitCode.NO)
    assert found.refused == ("zookeeper1:/data holds photos", "broker1:/data holds photos")


def test_a_host_of_another_cluster_or_one_that_does_not_answer_ends_it_before_anything_is_asked():
    with pytest.raises(RefusedError, match="serves another cluster; nothing was changed"):
        destroy.seen(CLUSTER, Hosts(survey(strangers=["kafka.service is another's"])), delete_data=False)
    with pytest.raises(UnreachableError):
        destroy.seen(CLUSTER, Hosts(UnreachableError("no route")), delete_data=False)
