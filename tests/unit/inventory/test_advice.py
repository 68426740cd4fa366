"""Advice is followed to the letter, in YAML and in INI, and Ansible then reads what was meant."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from kcluster import inventory
from kcluster.inventory import group_findings
from kcluster.inventory.levels import Tree
from kcluster.model.finding import Location, Reported
from kcluster.model.snippet import Assignment, Syntax
from kcluster.operations.validate import validate
from tests.unit.inventory.test_builder import data

BAD = Path(__file__).parents[2] / "inventories"
_SNIPPET = re.compile(r"`([^`]+)`")


@pytest.fixture(autouse=True)
def own_cache(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    monkeypatch.setenv("KCLUSTER_CACHE", str(tmp_path / "cache"))
    monkeypatch.chdir(tmp_path)


def followed(hosts: Path) -> None:
    """Write into an inventory what each finding says."""
    lines = hosts.read_text().splitlines()
    for finding in validate(hosts).findings:
        _follow(finding, lines)
    hosts.write_text("\n".join(lines) + "\n")


def _follow(finding: Reported, lines: list[str]) -> None:
    snippets = _SNIPPET.findall(finding.resolution)
    at = int(finding.place.rpartition(":")[2]) - 1
    indent = lines[at][: len(lines[at]) - len(lines[at].lstrip())]
    variable = re.match(r"\w+", snippets[0])
    if "at the end of the file" in finding.resolution:
        lines += snippets
    elif "beside it" in finding.resolution:
        lines[at] = f"{indent}{snippets[0]}\n{lines[at]}"
    elif variable and re.match(rf"\s*{variable[0]}\s*[:=]", lines[at]):
        lines[at] = indent + snippets[0]
    elif variable:  # a line of an INI file with a host
        lines[at] = " ".join([re.sub(rf"\s{variable[0]}=\S+", "", lines[at]), snippets[0]])


def test_lists_texts_and_numbers_in_an_ini_inventory(tmp_path: Path) -> None:
    hosts = tmp_path / "hosts.ini"
    text = (BAD / "lists-in-ini" / "hosts.ini").read_text()
    hosts.write_text(text.replace("kafka_config=num.partitions=3\n", ""))
    followed(hosts)
    cluster = inventory.read(hosts)
    assert cluster.brokers[1].data_dirs == ("/data/1", "/data/2")
    (listener,) = cluster.brokers[0].listeners
    assert (listener.name, listener.port, listener.protocol, listener.host) == ("PLAINTEXT", 9092, "PLAINTEXT", "")
    assert (cluster.release.version, cluster.release.sources) == ("3.9.2", ("cache", "maven"))
    assert [node.id for node in cluster.metadata.nodes] == [1, 2, 3]


@pytest.mark.parametrize("name", ["alias-groups/hosts.yml", "alias-groups-ini/hosts.ini", "unquoted-version/hosts.yml"])
def test_a_followed_advice_is_accepted(tmp_path: Path, name: str) -> None:
    hosts = tmp_path / Path(name).name
    hosts.write_text((BAD / name).read_text())
    followed(hosts)
    assert [finding.message for finding in validate(hosts).findings] == []


def test_a_variable_beside_an_ini_file_is_written_in_yaml(tmp_path: Path) -> None:
    (tmp_path / "group_vars").mkdir()
    (tmp_path / "group_vars" / "all.yml").write_text("kafka_data_dirs: /data\n")
    hosts = tmp_path / "hosts.ini"
    hosts.write_text("[zookeeper]\na zookeeper_id=1\n[kafka_broker]\nb kafka_broker_id=1\n")
    (wrong,) = [found for found in validate(hosts).findings if "kafka_data_dirs" in found.message]
    assert wrong.resolution == "write `kafka_data_dirs: [/data]`"


@pytest.mark.parametrize(
    ("value", "yaml", "host", "section"),
    [
        ("a b", 'x: "a b"', "x='\"a b\"'", 'x="a b"'),
        ("3.10", 'x: "3.10"', "x='\"3.10\"'", 'x="3.10"'),
        ("yes", 'x: "yes"', "x='\"yes\"'", 'x="yes"'),
        (7, "x: 7", "x=7", "x=7"),
        ("/data", "x: /data", "x=/data", "x=/data"),
        ([{"a": 1}], "x: [{a: 1}]", "x='[{\"a\": 1}]'", 'x=[{"a": 1}]'),
    ],
)
def test_a_value_has_quotes_where_the_syntax_needs_them(value: object, yaml: str, host: str, section: str) -> None:
    snippet = Assignment("x", value)
    assert [snippet.written(syntax).strip("`") for syntax in Syntax] == [yaml, host, section]


def test_a_group_of_several_parts_is_not_mapped_to_one() -> None:
    answer = data(zookeeper={"zk1": {}}, brokers={"b1": {}})
    answer["kafka"] = {"children": ["zookeeper", "brokers"]}
    found = group_findings.missing_group(Tree(answer), ("kafka_broker",), "no brokers")
    assert (found.spot, found.resolution.partition(":")[0]) == (Location("brokers"), "the group brokers has hosts")


def test_without_another_name_the_group_itself_is_to_be_filled() -> None:
    answer = data(machines={"h1": {}})
    found = group_findings.missing_group(Tree(answer), ("kafka_broker",), "no brokers")
    assert found.resolution == "put hosts into the group kafka_broker"
