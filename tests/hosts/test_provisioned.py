"""Kept disks: another project is another set of disks, and each lab made of them has a healthy cluster of its own."""

from __future__ import annotations

from pathlib import Path

from tests.hosts.conftest import NewFleet
from tests.hosts.fleet import PROJECT, SOLO
from tests.hosts.provisioned import INPUTS
from tests.lab import faults
from tests.lab.kept import digest


def test_disks_are_of_the_files_and_the_facts_that_went_in(tmp_path: Path) -> None:
    (tmp_path / "roles/kafka/tasks").mkdir(parents=True)
    (tmp_path / "roles/kafka/tasks/main.yml").write_text("- name: One\n")
    before = digest(tmp_path, ["roles"], "trio")
    assert before == digest(tmp_path, ["roles"], "trio")
    (tmp_path / "roles/kafka/__pycache__").mkdir()
    (tmp_path / "roles/kafka/__pycache__/x.pyc").write_text("made again")
    assert before == digest(tmp_path, ["roles"], "trio")
    others = [digest(tmp_path, ["roles"], "solo")]
    (tmp_path / "roles/kafka/tasks/main.yml").write_text("- name: Two\n")
    others.append(digest(tmp_path, ["roles"], "trio"))
    (tmp_path / "roles/kafka/tasks/main.yml").rename(tmp_path / "roles/kafka/tasks/other.yml")
    others.append(digest(tmp_path, ["roles"], "trio"))
    assert len({before, *others}) == 4


def test_what_goes_in_is_there() -> None:
    assert [name for name in INPUTS if not (PROJECT / name).exists()] == []


def test_each_lab_of_kept_disks_has_its_own_healthy_cluster(running: NewFleet) -> None:
    one, other = running(1, SOLO), running(1, SOLO)
    for cluster in (one, other):
        assert "nothing had to change" in cluster.run("provision", "-i", str(cluster.inventory), "--yes").stdout
    one.run("topic", "create", "mine", "-p", "1", "-r", "1", "-i", str(one.inventory))
    assert "mine" not in other.run("topic", "list", "-i", str(other.inventory)).stdout
    host = one.lab.host("h1")
    host.ssh.run("rm -r /etc/kafka /opt/kafka; mkdir /etc/kafka; touch /etc/kafka/mine")
    faults.shutdown(host)
    faults.boot(host)
    assert host.ssh.run("ls -A /etc/kafka /opt").split() == ["/etc/kafka:", "mine", "/opt:"]
    assert "server.properties" in other.lab.ssh("h1", "ls /etc/kafka")
