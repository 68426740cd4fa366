"""What the control node tells the module of a node, and what it makes of the answer."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pytest

from kcluster import inventory
from kcluster.ansible_api.node_request import NodeRequest, diff
from kcluster.model.cluster import Cluster
from kcluster.model.node import Layer
from kcluster.render import Role


@pytest.fixture
def cluster(project: Path) -> Cluster:
    """Three KRaft controllers and brokers; the first broker has a password."""
    found = inventory.read(project / "tests/golden/kraft-3.9/inventory.yml")
    secret = replace(found.brokers[0], layers=(Layer("cluster", {"ssl.key.password": "geheim"}),))
    return replace(found, brokers=(secret, *found.brokers[1:]))


@pytest.fixture
def wanted(cluster: Cluster) -> NodeRequest:
    """The first broker as it shall be."""
    return NodeRequest.of(cluster, cluster.brokers[0])


def test_the_module_is_told_all_it_needs_as_plain_json(wanted: NodeRequest) -> None:
    told = json.loads(json.dumps(wanted.question))
    assert (told["kind"], told["id"], told["unit"], told["format"]) == ("broker", 1, "kafka", True)
    assert told["release_dir"] == "/opt/kafka/kafka_2.13-3.9.2"
    owners = {file["path"]: (file["owner"], file["group"], file["mode"], file["kept"]) for file in told["files"]}
    assert owners["/etc/kafka/server.properties"] == ("root", "kafka", "0640", True)
    assert owners["/etc/systemd/system/kafka.service"] == ("root", "root", "0644", True)
    assert owners["/opt/kafka/start-node.sh"] == ("root", "root", "0755", False)
    assert [folder["path"] for folder in told["directories"]] == ["/etc/kafka", "/var/log/kafka", "/var/lib/kafka"]


def test_a_spark_worker_has_an_account_a_release_and_folders_of_its_own(project: Path) -> None:
    cluster = inventory.read(project / "tests/golden/spark/inventory.yml")
    assert cluster.engine
    worker = NodeRequest.of(cluster, cluster.engine.workers[1])
    told = json.loads(json.dumps(worker.question))
    assert (told["name"], told["kind"], told["unit"]) == ("spark-worker-h4", "spark-worker", "spark-worker")
    assert (told["user"], told["release_dir"], told["format"]) == ("spark", "/opt/spark/spark-4.1.3", False)
    assert [folder["path"] for folder in told["directories"]] == ["/etc/spark", "/var/log/spark", "/data/spark"]
    modes = {file["path"]: (file["group"], file["mode"]) for file in told["files"]}
    assert modes["/etc/spark/spark-worker.properties"] == ("spark", "0640")
    config = next(file for file in worker.files if file.role is Role.CONFIG)
    assert "spark.authenticate.secret=open sesame\n" in config.text
    old = config.text.replace("open sesame", "geheim")
    assert worker.reasons({"release": "spark-4.1.3", "files": {}}, {}) == ()
    reasons = worker.reasons({"release": "spark-4.1.3", "files": {config.path: old}}, {})
    assert reasons == ("spark.authenticate.secret (a secret changes)",)


def test_a_process_that_was_started_with_this_needs_no_restart(wanted: NodeRequest) -> None:
    assert wanted.reasons({"release": "kafka_2.13-3.9.2", "files": {}}, {}) == ()


def test_a_process_that_was_started_with_something_else_says_what(wanted: NodeRequest) -> None:
    config = next(file for file in wanted.files if file.role is Role.CONFIG)
    old = config.text.replace("node.id=1", "node.id=7").replace("geheim", "alt")
    reasons = wanted.reasons({"release": "kafka_2.13-3.9.1", "files": {config.path: old}}, {})
    assert any("kafka_2.13-3.9.1" in reason for reason in reasons)
    assert any("node.id" in reason for reason in reasons)
    assert any("ssl.key.password" in reason for reason in reasons)
    assert "geheim" not in str(reasons)
    assert "alt" not in str(reasons)


def test_the_diff_shows_what_changes_and_no_secret(wanted: NodeRequest) -> None:
    config = next(file for file in wanted.files if file.role is Role.CONFIG)
    mode = "root:kafka 0640"
    thing = {"path": config.path, "attributes": mode, "wanted": mode}
    (changed,) = diff([wanted], [{**thing, "text": config.text.replace("node.id=1", "node.id=7")}])
    assert "node.id=7\n" in changed["before"]
    assert "node.id=1\n" in changed["after"]
    (secret,) = diff([wanted], [{**thing, "text": config.text.replace("geheim", "alt")}])
    assert secret["after"] == secret["before"] + "(a secret changes)\n"
    shown = str([changed, secret])
    assert "geheim" not in shown
    assert "alt\n" not in shown


def test_the_diff_of_a_new_file_names_its_owner_and_of_a_directory_too(wanted: NodeRequest) -> None:
    new = {"path": "/etc/kafka/kafka.env", "attributes": "", "wanted": "root:kafka 0640", "text": None}
    folder = {"path": "/var/lib/kafka", "attributes": "root:root 0755", "wanted": "kafka:kafka 0750", "text": None}
    file, directory = diff([wanted], [new, folder])
    assert (file["after_header"], file["before"]) == ("/etc/kafka/kafka.env (root:kafka 0640)", "")
    assert (directory["before"], directory["after"]) == ("root:root 0755\n", "kafka:kafka 0750\n")
