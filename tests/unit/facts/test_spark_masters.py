"""Which node of Spark serves, from what real web pages of masters say."""

from __future__ import annotations

import json
from collections.abc import Iterator
from contextlib import ExitStack

import pytest

from kcluster.facts import spark_masters
from kcluster.model.host import Host
from kcluster.model.spark_cluster import SparkCluster, SparkMaster, SparkWorker
from tests.web import Web, serving

WORKERS = (SparkWorker(host=Host("h2", "10.0.0.2")), SparkWorker(host=Host("h3", "10.0.0.3"), port=7178))


@pytest.fixture
def pages() -> Iterator[list[Web]]:
    with ExitStack() as stack:
        yield [stack.enter_context(serving()) for _ in range(2)]


@pytest.fixture
def engine(pages: list[Web]) -> SparkCluster:
    """Two masters whose pages are the test's, and two workers."""
    ports = [int(page.url.rpartition(":")[2]) for page in pages]
    hosts = [Host(f"h{number}", "127.0.0.1") for number in (1, 2)]
    return SparkCluster(
        "demo", tuple(SparkMaster(host=h, web_port=p) for h, p in zip(hosts, ports, strict=True)), WORKERS
    )


def says(page: Web, status: str, **workers: str) -> None:
    ports = {worker.host.name: (worker.host.address, worker.port) for worker in WORKERS}
    room = {"cores": 2, "coresfree": 2, "memory": 1024, "memoryfree": 1024}
    told = [{"host": ports[name][0], "port": ports[name][1], "state": state, **room} for name, state in workers.items()]
    page.files["/json/"] = json.dumps({"status": status, "workers": told, "activeapps": []}).encode()


def missing(engine: SparkCluster) -> list[str]:
    return [reason.text for reason in spark_masters.missing(engine, engine.nodes)]


def test_one_leads_another_stands_by_and_every_worker_is_known(engine: SparkCluster, pages: list[Web]) -> None:
    says(pages[0], "STANDBY")
    says(pages[1], "ALIVE", h2="ALIVE", h3="ALIVE")
    assert spark_masters.leader(engine) == "spark-master-h2"
    assert spark_masters.roles(engine) == {
        "spark-master-h1": "standby",
        "spark-master-h2": "leader",
        "spark-worker-h2": "",
        "spark-worker-h3": "",
    }
    assert missing(engine) == []


def test_a_worker_serves_when_the_master_that_leads_says_so(engine: SparkCluster, pages: list[Web]) -> None:
    says(pages[0], "STANDBY", h3="ALIVE")  # it led before
    says(pages[1], "ALIVE", h2="ALIVE", h3="DEAD")
    assert "spark-worker-h3" not in spark_masters.roles(engine)
    assert missing(engine) == ["spark-worker-h3 is not registered with the leading Spark master yet"]


def test_a_master_that_does_not_answer_is_named_and_does_not_hide_the_others(
    engine: SparkCluster, pages: list[Web]
) -> None:
    says(pages[1], "ALIVE", h2="ALIVE", h3="ALIVE")
    assert list(spark_masters.states(engine)) == ["spark-master-h2"]
    assert missing(engine) == ["spark-master-h1 does not answer yet"]


def test_while_nobody_leads_no_worker_serves(engine: SparkCluster, pages: list[Web]) -> None:
    says(pages[0], "STANDBY")
    says(pages[1], "RECOVERING", h2="UNKNOWN")
    assert spark_masters.leader(engine) == ""
    assert spark_masters.roles(engine) == {"spark-master-h1": "standby", "spark-master-h2": "recovering"}
    assert missing(engine) == [
        "spark-master-h2 does not answer yet",
        "no Spark master leads",
    ]


def test_workers_alone_are_asked_for_alone(engine: SparkCluster, pages: list[Web]) -> None:
    says(pages[1], "ALIVE", h2="ALIVE")
    assert spark_masters.missing(engine, [WORKERS[0]]) == []
