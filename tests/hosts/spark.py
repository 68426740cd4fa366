"""Three hosts with Kafka and Spark on them, for every test that needs such: each leaves them healthy."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.hosts.fleet import SMALL, Fleet
from tests.hosts.provisioned import provisioned
from tests.lab import Image
from tests.shared import shared

SECRET = "a secret of the lab"

TRIO_SPARK = (
    "all:\n  vars:"
    + SMALL.format(name="triospark")
    + f"""    zookeeper_config: {{maxSessionTimeout: 10000}}
    spark_heap: 256m
    spark_environment: {{SPARK_DAEMON_JAVA_OPTS: "-XX:TieredStopAtLevel=1"}}
    spark_secret: {SECRET}
    spark_worker_cores: 2
    spark_worker_memory: 1g
  children:
    zookeeper:
      hosts: {{h1: {{zookeeper_id: 1}}, h2: {{zookeeper_id: 2}}, h3: {{zookeeper_id: 3}}}}
    kafka_broker:
      hosts: {{h1: {{kafka_broker_id: 1}}, h2: {{kafka_broker_id: 2}}, h3: {{kafka_broker_id: 3}}}}
    spark_master:
      hosts: {{h1: , h2: }}
    spark_worker:
      hosts: {{h2: , h3: }}
"""
)
"""Three hosts as TRIO_ZK has them, two Spark masters and two workers; who leads is decided anew after ten seconds."""


@pytest.fixture
def sparks(lab_image: Image, tmp_path_factory: pytest.TempPathFactory) -> Fleet:
    """Three hosts on which TRIO_SPARK runs: each test leaves it healthy."""
    return shared("sparks", lambda: provisioned(3, TRIO_SPARK, lab_image, tmp_path_factory.mktemp("sparks")))


def lake(fleet: Fleet) -> Path:
    """A folder for tables, made as docs/jobs.md tells: everybody has it, and what is in it belongs to Spark's group."""
    folder = fleet.lab.shared / "lake"
    fleet.lab.ssh("h2", f"install -d -m 2775 -g spark {folder}")
    return folder
