"""The verdict of validate, and that it stays quick on large inventories."""

from __future__ import annotations

import json
import time
from pathlib import Path

import pytest

from kcluster import app, inventory
from kcluster.errors import ExitCode
from kcluster.inventory import cluster_from
from kcluster.model.finding import WHO, Finding, Location, Severity, report, warning
from kcluster.model.snippet import Syntax
from kcluster.operations.validate import Validation, judge


def verdict(*findings: Finding, strict: bool = False) -> Validation:
    return Validation("demo", "1 broker", report(findings, lambda spot: spot.key, lambda _: Syntax.YAML), strict)


def test_warnings_refuse_only_when_asked_to_be_strict() -> None:
    assert verdict().exit_code == ExitCode.DONE
    assert verdict(warning("doubtful")).exit_code == ExitCode.DONE
    assert verdict(warning("doubtful"), strict=True).exit_code == ExitCode.INVENTORY
    assert verdict(Finding("wrong")).exit_code == ExitCode.INVENTORY


def test_errors_come_first_then_the_order_of_the_files() -> None:
    found = verdict(
        warning("c", spot=Location(key="a.yml:1")),
        Finding("b", spot=Location(key="a.yml:10")),
        Finding("a", spot=Location(key="a.yml:9")),
    )
    assert [each.message for each in found.findings] == ["a", "b", "c"]


def test_what_many_hosts_have_from_one_place_is_one_finding() -> None:
    hosts = [f"b{number}" for number in range(300)]
    (found,) = report([Finding(f"{WHO} is wrong", who=host) for host in hosts], lambda spot: "", lambda _: Syntax.YAML)
    assert (found.severity, found.message) == (Severity.ERROR, "b0, b1, b2 and 297 others is wrong")


def test_the_json_form_has_the_verdict_and_the_findings(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    path = project / "tests" / "inventories" / "one-rack-for-all" / "hosts.yml"
    assert app.main(["validate", "-i", str(path), "--strict", "-o", "json"]) == ExitCode.INVENTORY
    said = json.loads(capsys.readouterr().out)
    assert (said["refused"], said["errors"], said["warnings"]) == (True, 0, 1)
    assert said["findings"][0]["severity"] == "warning"


def test_no_inventory_is_told(capsys: pytest.CaptureFixture[str]) -> None:
    assert app.main(["validate"]) == ExitCode.USAGE
    assert capsys.readouterr().err.startswith("error: no inventory is given\n  try: kcluster validate -i INV")
    assert app.main(["validate", "-i", "nowhere"]) == ExitCode.INVENTORY
    assert "error: there is no inventory nowhere\n  try: " in capsys.readouterr().err


def test_three_hundred_brokers_are_judged_within_a_second(project: Path) -> None:
    hosts = {f"b{number}": {"kafka_broker_id": number} for number in range(300)}
    data = {
        "all": {"children": ["zookeeper", "kafka_broker"], "vars": {"kafka_config": {"num.partition": 1}}},
        "zookeeper": {"hosts": ["zk1"]},
        "kafka_broker": {"hosts": list(hosts), "vars": {"kafka_config": {"num.io.threads": 8}}},
        "_meta": {"hostvars": {**hosts, "zk1": {"zookeeper_id": 1}}},
    }
    begun = time.process_time()
    cluster, _ = cluster_from(data)
    assert cluster
    found = judge(cluster)
    assert time.process_time() - begun < 1
    assert [finding.message for finding in found] == [
        "1 ZooKeeper server tolerates 0 failures: the cluster stops when it fails",
        "Kafka 3.9.2 has no property num.partition",
    ]


def test_the_inventories_of_the_project_have_no_findings(project: Path) -> None:
    from kcluster.operations.validate import validate

    for path in (project / "inventories").iterdir():
        if path.is_dir():
            assert validate(path, strict=True).findings == (), path
            assert inventory.read(path)
