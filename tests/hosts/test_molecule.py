"""Each role alone, and the whole cluster, go through their Molecule scenario on hosts of their own."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.lab import Image
from tests.lab.lab import fresh_name
from tests.lab.machine import labs
from tests.molecule.__main__ import main, run, scenarios

UNTRUE = """
- name: Converge
  hosts: all
  gather_facts: false
  tasks:
    - name: Only check mode sees a change
      ansible.builtin.command: "true"
      check_mode: false
      changed_when: ansible_check_mode
"""


def test_every_role_has_a_scenario_and_every_scenario_uses_two_debian_releases(project: Path) -> None:
    roles = {path.name for path in (project / "roles").iterdir() if path.is_dir()}
    assert set(scenarios()) == {*roles, "cluster"}
    assert all((folder / "verify.yml").exists() for folder in scenarios().values())  # molecule goes on without it
    for name, folder in scenarios().items():
        scenario = (folder / "molecule.yml").read_text()
        assert set(re.findall(r"suite: .*-(\w+)}", scenario)) == {"bookworm", "trixie"}, name


@pytest.mark.parametrize("name", sorted(scenarios()))
def test_a_scenario_holds(name: str, lab_image: Image) -> None:
    lab = fresh_name()
    assert run(scenarios()[name], lab) == 0
    assert not (labs() / lab).exists()


def test_a_scenario_fails_whose_check_mode_is_untrue_and_its_hosts_go(
    lab_image: Image, project: Path, tmp_path: Path, capfd: pytest.CaptureFixture[str]
) -> None:
    scenario, lab = tmp_path / "molecule" / "untrue", fresh_name()
    scenario.mkdir(parents=True)
    for step in ("converge", "verify"):
        (scenario / f"{step}.yml").write_text(UNTRUE)
    (scenario / "molecule.yml").write_text((project / "roles/host/molecule/default/molecule.yml").read_text())
    assert run(scenario, lab) != 0
    said = capfd.readouterr().err
    assert "untrue > idempotence: Executed: Successful" in said
    assert "untrue > verify: Executed: Failed" in said
    assert not (labs() / lab).exists()


def test_a_scenario_that_is_not_there_is_refused_with_those_that_are(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["hosts"]) == 2
    assert capsys.readouterr().err == (
        "error: no scenario hosts\n  try: cluster, host, kafka, release, spark, zookeeper\n"
    )
