"""Groups and hosts win over each other as they do in Ansible."""

from __future__ import annotations

from kcluster.inventory.levels import Tree

DATA = {
    "all": {"children": ["site", "east"], "vars": {"a": 0, "b": 0}},
    "site": {"children": ["rack"], "vars": {"a": 1, "b": 1}},
    "rack": {"hosts": ["h1", "h2"], "vars": {"a": 2}},
    "east": {"hosts": ["h1"], "vars": {"b": 9, "ansible_group_priority": 10}},
    "_meta": {"hostvars": {"h2": {"a": 3}}},
}


def test_deeper_groups_win_then_priority_then_the_host() -> None:
    members = Tree(DATA).members
    assert [level.subject for level in members["h1"].levels] == ["all", "site", "east", "rack", "h1"]
    assert (members["h1"].written("a"), members["h1"].written("b")) == (2, 9)
    assert (members["h2"].written("a"), members["h2"].written("b")) == (3, 1)
    assert members["h2"].written("c") is None


def test_a_group_holds_the_hosts_of_the_groups_below_it() -> None:
    assert [member.name for member in Tree(DATA).within("site")] == ["h1", "h2"]
    assert [member.name for member in Tree(DATA).within("east")] == ["h1"]
