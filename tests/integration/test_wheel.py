"""An installed wheel works outside a checkout."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path
from zipfile import ZipFile

import pytest


@pytest.fixture(scope="module")
def installed(project: Path, tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with what the wheel holds, and nothing of the checkout."""
    folder = tmp_path_factory.mktemp("wheel")
    subprocess.run(
        [sys.executable, "-m", "hatchling", "build", "-t", "wheel", "-d", str(folder)],
        cwd=project,
        check=True,
        capture_output=True,
    )
    (wheel,) = folder.glob("*.whl")
    ZipFile(wheel).extractall(folder / "site")
    return folder / "site"


def test_the_wheel_makes_validates_and_renders_an_inventory(installed: Path, tmp_path: Path) -> None:
    def kcluster(*args: str) -> str:
        env = {**os.environ, "PYTHONPATH": str(installed), "KCLUSTER_HOME": str(tmp_path / "home")}
        done = subprocess.run(
            [sys.executable, "-m", "kcluster", *args], cwd=tmp_path, env=env, capture_output=True, text=True
        )
        assert done.returncode == 0, done.stderr
        return done.stdout

    kcluster("init", "staging", "--hosts", "a.example,b.example,c.example")
    kcluster("validate", "-i", "staging", "--strict")
    assert "zookeeper.connect=a.example:2181,b.example:2181,c.example:2181" in kcluster("render", "-i", "staging")


def test_the_wheel_holds_the_projects_folders_but_no_inventory_and_no_test(installed: Path) -> None:
    names = {path.name for path in (installed / "kcluster" / "_project").iterdir()}
    assert names == {"playbooks", "roles", "plugins", "meta", "galaxy.yml", "templates", "spark_jobs"}
    assert not [*installed.rglob("test_*.py"), *installed.rglob("molecule")]
    of_spark = ("roles/spark/tasks/main.yml", "templates/spark/spark.service.j2", "spark_jobs/run.py")
    assert all((installed / "kcluster" / "_project" / name).is_file() for name in of_spark)


def test_the_wheel_is_the_collection_its_playbooks_run_from(installed: Path, tmp_path: Path) -> None:
    (tmp_path / "hosts.yml").write_text("all: {hosts: {here: {ansible_connection: local}}}\n")
    (tmp_path / "book.yml").write_text(
        "- hosts: all\n  gather_facts: false\n  tasks:\n    - name: Prepare\n      kcluster.kafka.host:\n"
    )
    code = (
        "import sys; from pathlib import Path; from kcluster.clients.ansible import run_playbook;"
        "run_playbook('book.yml', Path('hosts.yml'), on_event=lambda event: print(event.status, event.message))"
    )
    env = {**os.environ, "PYTHONPATH": str(installed), "KCLUSTER_CACHE": str(tmp_path / "cache")}
    done = subprocess.run([sys.executable, "-c", code], cwd=tmp_path, env=env, capture_output=True, text=True)
    began, ended = done.stdout.splitlines()[:2]
    assert (began, ended.split()[:3]) == ("started ", ["failed", "the", "inventory"]), done.stderr
