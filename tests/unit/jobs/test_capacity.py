from __future__ import annotations

from collections.abc import Mapping

import pytest

from kcluster.clients.spark.master import MasterState, WorkerResources
from kcluster.errors import RefusedError, UnreachableError
from kcluster.facts import spark_masters
from kcluster.jobs import capacity
from kcluster.model.host import Host
from kcluster.model.spark_cluster import SparkCluster, SparkMaster, SparkWorker

H1, H2 = Host("h1", "10.0.0.1"), Host("h2", "10.0.0.2")
ENGINE = SparkCluster("prod", (SparkMaster(host=H1), SparkMaster(host=H2)), (SparkWorker(host=H2),), secret="s")
FREE = WorkerResources(cores=4, free_cores=4, memory=8192, free_memory=8192)
FULL = WorkerResources(cores=4, free_cores=0, memory=8192, free_memory=1024)
STANDBY = MasterState("STANDBY")


def leading(*rooms: WorkerResources, cores: Mapping[str, int] | None = None) -> dict[str, MasterState]:
    return {"spark-master-h1": MasterState("ALIVE", {}, rooms, cores or {}), "spark-master-h2": STANDBY}


@pytest.fixture(autouse=True)
def impatient(monkeypatch: pytest.MonkeyPatch) -> None:
    for what in ("LEADS_WITHIN", "FREE_WITHIN", "_POLL"):
        monkeypatch.setattr(capacity, what, 0)


def taken(monkeypatch: pytest.MonkeyPatch, *told: dict[str, MasterState], **asked: str) -> dict[str, str]:
    """What a job takes when the masters say this, one after the other."""
    answers = [*told]
    monkeypatch.setattr(spark_masters, "states", lambda _: answers.pop(0) if len(answers) > 1 else answers[0])
    return capacity.resource_settings(
        ENGINE, {f"spark.{key.replace('_', '.')}": value for key, value in asked.items()}, print
    )


def test_a_job_takes_half_of_the_cores_unless_it_says_otherwise(monkeypatch: pytest.MonkeyPatch) -> None:
    half = taken(monkeypatch, leading(FREE, FREE))
    assert (half["spark.cores.max"], half["spark.executor.memory"]) == ("4", "1024m")
    assert [half[part] for part in capacity.TASK_SETTINGS] == ["8", "8"]
    small = taken(monkeypatch, leading(WorkerResources(3, 3, 1500, 1500)))
    assert (small["spark.cores.max"], small["spark.executor.memory"]) == ("2", "750m")
    own = taken(monkeypatch, leading(FREE), cores_max="1", executor_memory="3g")
    assert (own["spark.cores.max"], own["spark.executor.memory"]) == ("1", "3072m")


@pytest.mark.parametrize(
    ("memory", "megabytes"), [("2g", 2048), ("700M", 700), ("700", 700), ("1048576kb", 1024), ("a lot", 1024)]
)
def test_memory_is_read_as_spark_reads_it(monkeypatch: pytest.MonkeyPatch, memory: str, megabytes: int) -> None:
    assert taken(monkeypatch, leading(FREE), executor_memory=memory)["spark.executor.memory"] == f"{megabytes}m"


def test_without_a_leader_or_a_worker_the_error_lists_each_node(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(UnreachableError, match="no Spark master of prod is the leader") as nobody:
        taken(monkeypatch, {"spark-master-h2": STANDBY})
    assert nobody.value.details == (
        "spark-master-h1 at 10.0.0.1:8080: does not answer\nspark-master-h2 at 10.0.0.2:8080: standby"
    )
    assert "kcluster start" in nobody.value.resolution
    with pytest.raises(UnreachableError, match="no Spark worker of prod is registered"):
        taken(monkeypatch, leading())


def test_without_any_answer_it_does_not_wait(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capacity, "LEADS_WITHIN", 1000)
    with pytest.raises(UnreachableError, match="no Spark master of prod is the leader"):
        taken(monkeypatch, {})


def test_a_master_that_takes_over_and_a_job_that_just_ended_are_waited_for(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.setattr(capacity, "LEADS_WITHIN", 1000)
    monkeypatch.setattr(capacity, "FREE_WITHIN", 1000)
    nobody = {"spark-master-h2": MasterState("RECOVERING")}
    assert taken(monkeypatch, nobody, nobody, leading(FULL), leading(FREE))["spark.cores.max"] == "2"
    assert capsys.readouterr().out.splitlines() == [
        "no Spark master of prod is the leader; waiting up to 1000 s",
        "no worker of prod has 1 core and 1024 MiB free for an executor; waiting up to 1000 s",
    ]


def test_a_full_cluster_refuses_and_tells_who_fills_it(monkeypatch: pytest.MonkeyPatch) -> None:
    with pytest.raises(RefusedError, match="no worker of prod has 1 core and 1024 MiB free") as full:
        taken(monkeypatch, leading(FULL, cores={"latest": 3, "ingest": 1}))
    assert full.value.details == "ingest has 1 core\nlatest has 3 cores"
    assert "spark.cores.max" in full.value.resolution


def test_an_executor_larger_than_every_worker_is_refused_at_once(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(capacity, "FREE_WITHIN", 1000)
    with pytest.raises(RefusedError, match="large enough for an executor of 1 core and 9216 MiB") as large:
        taken(monkeypatch, leading(FREE, FULL), executor_memory="9g")
    assert large.value.details == "the largest has 4 cores and 8192 MiB"
