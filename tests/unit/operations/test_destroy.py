from __future__ import annotations

import json
from dataclasses import replace
from typing import Any

import pytest

from kcluster.clients.ssh import CommandResult
from kcluster.errors import ExitCode, RefusedError, UnreachableError
from kcluster.local import topology
from kcluster.local.cluster_record import UpOrigin
from kcluster.model.host import Host
from kcluster.model.spark_cluster import SparkCluster, SparkMaster, SparkWorker
from kcluster.operations import destroy
from kcluster.operations.destroy.survey import NO_COMMON_ID, DestroyPart, common_id, survey_query

OURS = "PbWmCmMSSbSvDeFTl9mVrA"
CLUSTER = topology.cluster_of("c", UpOrigin(brokers=1, keepers=1), "")
KEEPER, BROKER = CLUSTER.hosts


def test_the_brokers_are_one_part_and_the_keepers_another():
    parts = ([DestroyPart.BROKERS], [DestroyPart.KEEPERS], list(DestroyPart))
    assert [len(survey_query(CLUSTER, BROKER, part)["nodes"]) for part in parts] == [1, 0, 1]
    assert [len(survey_query(CLUSTER, KEEPER, part)["nodes"]) for part in parts] == [0, 1, 1]
    assert survey_query(CLUSTER, BROKER, [DestroyPart.BROKERS])["folders"] == []


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


def survey(**found: Any) -> CommandResult:
    return CommandResult(0, json.dumps({"units": [], "strangers": [], "folders": [], "data": [], **found}), "")


def data(refusal: str = "", cluster_id: str = OURS) -> dict[str, Any]:
    return {"path": "/data", "size": 5 << 20, "cluster_id": cluster_id, "refusal": refusal}


def test_nothing_is_left_when_only_data_is_there_that_stays():
    found = destroy.survey_hosts(CLUSTER, Hosts(survey(data=[data()])), delete_data=False)
    assert (found.nothing, found.kept) == (True, ("zookeeper1:/data", "broker1:/data"))
    assert list(found.view())[-1] == "c: nothing is left to remove"


def test_data_that_would_be_left_is_named_before_anybody_is_asked():
    found = destroy.survey_hosts(CLUSTER, Hosts(survey(units=["kafka"], data=[data("holds photos")])), delete_data=True)
    assert (found.nothing, found.exit_code) == (False, ExitCode.NO)
    assert found.refused == ("zookeeper1:/data holds photos", "broker1:/data holds photos")


def test_a_host_of_another_cluster_or_one_that_does_not_answer_ends_it_before_anything_is_asked():
    with pytest.raises(RefusedError, match="serves another cluster; nothing was changed"):
        destroy.survey_hosts(CLUSTER, Hosts(survey(strangers=["kafka.service is another's"])), delete_data=False)
    with pytest.raises(UnreachableError):
        destroy.survey_hosts(CLUSTER, Hosts(UnreachableError("no route")), delete_data=False)


def test_spark_goes_in_parts_of_its_own_also_from_a_host_without_kafka():
    alone = Host("s1", "10.0.0.9")
    engine = SparkCluster("c", (SparkMaster(host=BROKER),), (SparkWorker(host=BROKER), SparkWorker(host=alone)))
    cluster = replace(CLUSTER, engine=engine)
    parts = ([DestroyPart.WORKERS], [DestroyPart.MASTERS], [DestroyPart.BROKERS], list(DestroyPart))
    there = [[node["unit"] for node in survey_query(cluster, BROKER, part)["nodes"]] for part in parts]
    assert there == [["spark-worker"], ["spark-master"], ["kafka"], ["kafka", "spark-master", "spark-worker"]]
    asked = survey_query(cluster, alone, list(DestroyPart))
    assert [node["title"] for node in asked["nodes"]] == ["Spark worker on s1 of c"]
    assert [folder["path"] for folder in asked["folders"]] == [
        "/etc/spark",
        "/opt/spark",
        "/var/log/spark",
        "/var/lib/spark-worker",
    ]


def test_a_master_remembers_in_a_folder_only_without_zookeeper():
    def data(engine):
        (node,) = survey_query(replace(CLUSTER, engine=engine), BROKER, [DestroyPart.MASTERS])["nodes"]
        return [one["path"] for one in node["data"]]

    engine = SparkCluster("c", (SparkMaster(host=BROKER),), ())
    assert data(engine) == ["/var/lib/spark-master"]
    assert data(replace(engine, keepers="h1:2181")) == []


def test_every_account_that_stays_is_named():
    found = destroy.survey_hosts(
        replace(CLUSTER, engine=SparkCluster("c", (SparkMaster(host=BROKER),), ())), Hosts(survey()), delete_data=False
    )
    assert found.accounts == (CLUSTER.brokers[0].places.user, "spark")
