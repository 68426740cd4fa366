from __future__ import annotations

import pytest

from kcluster.jobs import capacity
from kcluster.jobs.spark_target import Where, where
from kcluster.model.host import Host
from kcluster.model.spark_cluster import SparkCluster, SparkMaster

ENGINE = SparkCluster(
    "prod", (SparkMaster(host=Host("h1", "10.0.0.1")), SparkMaster(host=Host("h2", "10.0.0.2"))), (), secret="s"
)
URL = "spark://10.0.0.1:7077,10.0.0.2:7077"


def test_what_is_said_wins_over_the_inventory_and_that_over_this_machine() -> None:
    assert where(None, "") == Where("local[*]")
    assert where(ENGINE, "") == where(ENGINE, URL) == Where(URL, ENGINE)
    assert where(ENGINE, "local[2]") == Where("local[2]")
    assert where(ENGINE, "spark://other:7077") == Where("spark://other:7077")


def test_the_secret_and_a_share_go_to_the_inventorys_spark_alone(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capacity, "taken", lambda *_: {"spark.cores.max": "2"})
    assert where(ENGINE, "").settings({}, print) == {
        "spark.hadoop.fs.permissions.umask-mode": "002",
        "spark.cores.max": "2",
        "spark.authenticate": "true",
        "spark.authenticate.secret": "s",
    }
    assert where(ENGINE, "yarn").settings({}, print) == {}
    assert list(where(ENGINE, "spark://o:1").settings({}, print)) == ["spark.hadoop.fs.permissions.umask-mode"]
    assert "'s'" not in repr(where(ENGINE, ""))
