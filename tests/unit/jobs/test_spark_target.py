from __future__ import annotations

import pytest

from kcluster.jobs import capacity
from kcluster.jobs.spark_target import SparkTarget, spark_target
from kcluster.model.host import Host
from kcluster.model.spark_cluster import SparkCluster, SparkMaster

ENGINE = SparkCluster(
    "prod", (SparkMaster(host=Host("h1", "10.0.0.1")), SparkMaster(host=Host("h2", "10.0.0.2"))), (), secret="s"
)
URL = "spark://10.0.0.1:7077,10.0.0.2:7077"


def test_master_option_overrides_the_inventory_and_that_this_machine() -> None:
    assert spark_target(None, "") == SparkTarget("local[*]")
    assert spark_target(ENGINE, "") == spark_target(ENGINE, URL) == SparkTarget(URL, ENGINE)
    assert spark_target(ENGINE, "local[2]") == SparkTarget("local[2]")
    assert spark_target(ENGINE, "spark://other:7077") == SparkTarget("spark://other:7077")


def test_secret_and_resources_go_only_to_the_spark_of_the_inventory(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capacity, "resource_settings", lambda *_: {"spark.cores.max": "2"})
    assert spark_target(ENGINE, "").settings({}, print) == {
        "spark.hadoop.fs.permissions.umask-mode": "002",
        "spark.cores.max": "2",
        "spark.authenticate": "true",
        "spark.authenticate.secret": "s",
    }
    assert spark_target(ENGINE, "yarn").settings({}, print) == {}
    assert list(spark_target(ENGINE, "spark://o:1").settings({}, print)) == ["spark.hadoop.fs.permissions.umask-mode"]
    assert "'s'" not in repr(spark_target(ENGINE, ""))
