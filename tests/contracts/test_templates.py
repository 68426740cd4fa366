"""The rules of templates/: only promised variables, no decisions, and the same bytes from Ansible."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import jinja2.filters
import pytest
from jinja2 import Environment, meta, nodes

from kcluster import inventory, render
from kcluster.config import node_variables
from kcluster.model.cluster import Part
from kcluster.model.node import Node
from kcluster.render import Template

FORBIDDEN = (
    nodes.Include,
    nodes.Import,
    nodes.FromImport,
    nodes.Extends,
    nodes.Macro,
    nodes.Call,
    nodes.If,
    nodes.CondExpr,
)


def source(project: Path, template: Template) -> str:
    return (project / "templates" / template.value).read_text()


@pytest.fixture(scope="module")
def every_kind(project: Path) -> list[tuple[Part, Node]]:
    """One node of each kind: in ZooKeeper mode on 3.9, in KRaft mode on 4.2, and of Spark."""
    found: list[tuple[Part, Node]] = []
    for case in ("levels-add-up", "kraft-4.2"):
        cluster = inventory.read(project / "tests" / "golden" / case / "inventory.yml")
        found += [(cluster, cluster.metadata.nodes[0]), (cluster, cluster.brokers[0])]
    engine = inventory.read(project / "tests" / "golden" / "spark" / "inventory.yml").engine
    assert engine
    return [*found, (engine, engine.masters[0]), (engine, engine.workers[0])]


def leaves(value: Any) -> Iterator[Any]:
    if isinstance(value, dict):
        value = list(value.values())
    if not isinstance(value, list):
        yield value
        return
    for item in value:
        yield from leaves(item)


def test_every_template_file_is_a_member_of_the_enum(project: Path) -> None:
    folder = project / "templates"
    assert {str(path.relative_to(folder)) for path in folder.rglob("*.j2")} == set(Template)


@pytest.mark.parametrize("template", Template)
def test_a_template_fills_in_and_loops_and_does_nothing_else(project: Path, template: Template) -> None:
    tree = Environment().parse(source(project, template))
    assert not list(tree.find_all(FORBIDDEN))
    assert {used.name for used in tree.find_all(nodes.Filter)} <= set(jinja2.filters.FILTERS)


def test_the_templates_of_a_node_use_what_is_promised_no_less_and_no_more(
    project: Path, every_kind: list[tuple[Part, Node]]
) -> None:
    for part, node in every_kind:
        used: set[str] = set()
        for plan in render.planned(part, node):
            used |= meta.find_undeclared_variables(Environment().parse(source(project, plan.template)))
        assert used == set(node_variables.for_node(part, node))


def test_all_values_are_text(every_kind: list[tuple[Part, Node]]) -> None:
    for part, node in every_kind:
        assert {type(leaf) for leaf in leaves(node_variables.for_node(part, node))} == {str}


def test_ansible_gives_the_same_bytes(project: Path, every_kind: list[tuple[Part, Node]], tmp_path: Path) -> None:
    hosts: dict[str, dict[str, Any]] = {}
    expected: dict[Path, str] = {}
    for number, (part, node) in enumerate(every_kind):
        name = f"{node.kind}{number}"
        plans = render.planned(part, node)
        targets = [tmp_path / f"{name}-{plan.role}" for plan in plans]
        wanted = [
            {"src": str(project / "templates" / plan.template.value), "dest": str(target)}
            for plan, target in zip(plans, targets, strict=True)
        ]
        hosts[name] = {**node_variables.for_node(part, node, reveal=True), "wanted": wanted}
        texts = [file.text for file in render.files(part, node, reveal=True)]
        expected |= dict(zip(targets, texts, strict=True))
    _run_ansible(tmp_path, hosts)
    assert {path: path.read_text() for path in expected} == expected


def _run_ansible(folder: Path, hosts: dict[str, dict[str, Any]]) -> None:
    """One run of ansible-playbook for all files of all nodes."""
    common = {"ansible_connection": "local", "ansible_python_interpreter": sys.executable}
    listing = {"all": {"hosts": {name: common | values for name, values in hosts.items()}}}
    task = {
        "ansible.builtin.template": {"src": "{{ item.src }}", "dest": "{{ item.dest }}", "mode": "0600"},
        "loop": "{{ wanted }}",
    }
    (folder / "hosts.json").write_text(json.dumps(listing))
    (folder / "play.json").write_text(json.dumps([{"hosts": "all", "gather_facts": False, "tasks": [task]}]))
    command = [str(Path(sys.executable).with_name("ansible-playbook")), "-i", "hosts.json", "play.json"]
    done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
    assert done.returncode == 0, done.stdout + done.stderr
