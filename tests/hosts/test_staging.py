"""What CI does to staging hosts: `.ci/deploy-staging`, with its keys in the environment and its results as files."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from contextlib import AbstractContextManager
from pathlib import Path
from typing import Any
from xml.etree import ElementTree

import pytest
import yaml

from tests.children import child
from tests.hosts.fleet import PROJECT, TRIO_ZK, Fleet, NewFleet
from tests.hosts.under_load import under_load
from tests.lab import faults

PASSWORD = "only in the environment"
TOKEN = "a secret that only brokers know"


class Staging:
    """The deployment of one inventory, as CI runs it."""

    def __init__(self, fleet: Fleet, folder: Path) -> None:
        self.fleet = fleet
        self.artifacts = folder / "artifacts"
        self.home = folder / "home"
        self.home.mkdir()
        hosts = fleet.inventory / "hosts.yml"
        hosts.write_text(_with_the_agent(hosts.read_text()))

    def start(self, artifacts: Path | None = None) -> AbstractContextManager[subprocess.Popen[str]]:
        """Begin one deployment."""
        python = str(Path(sys.executable).parent)
        environment = {
            **os.environ,
            "PATH": f"{python}:{os.environ['PATH']}",
            "HOME": str(self.home),
            "KCLUSTER_CACHE": os.environ.get("KCLUSTER_CACHE", str(Path.home() / ".cache/kcluster")),
            "KCLUSTER_HOME": str(self.fleet.home),
            "KCLUSTER_SSH_KEY": self.fleet.lab.host("h1").image.key.read_text(),
            "KCLUSTER_KNOWN_HOSTS": "staging1.example.com ssh-ed25519 AAAA",
            "KCLUSTER_VAULT_PASSWORD": PASSWORD,
            "ARTIFACTS": str(artifacts or self.artifacts),
        }
        return child(
            ["ip", "netns", "exec", self.fleet.lab.network.namespace, ".ci/deploy-staging", str(self.fleet.inventory)],
            cwd=PROJECT,
            env=environment,
            stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE,
            stderr=subprocess.STDOUT,
            text=True,
        )

    def deploy(self, code: int = 0) -> str:
        """Deploy once; what was said."""
        said, ended = self.ended()
        assert ended == code, said
        return said

    def ended(self, artifacts: Path | None = None) -> tuple[str, int]:
        """Deploy once; what was said, and the exit code."""
        with self.start(artifacts) as run:
            return _ended(run)

    def wait_for_run(self, number: int) -> None:
        """Return when the run of that number has begun, and so holds the lock."""
        journal = self.fleet.home / f"clusters/trio/journal/{number}.jsonl"
        deadline = time.monotonic() + 300
        while not journal.exists():
            assert time.monotonic() < deadline
            time.sleep(0.05)

    def result(self, word: str) -> Any:
        """The JSON result of a step."""
        return json.loads((self.artifacts / f"{word}.json").read_text())

    def suites(self) -> dict[str, int]:
        """How many test cases failed in each suite of junit.xml."""
        root = ElementTree.parse(self.artifacts / "junit.xml").getroot()
        return {suite.attrib["name"]: int(suite.attrib["failures"]) for suite in root}


def _ended(run: subprocess.Popen[str]) -> tuple[str, int]:
    said, _ = run.communicate(timeout=500)
    return said, run.returncode


def _with_the_agent(lab: str) -> str:
    """The lab's inventory without its key: the agent has it."""
    inventory = yaml.safe_load(lab)
    for host in inventory["all"]["hosts"].values():
        del host["ansible_ssh_private_key_file"]
        host["ansible_ssh_common_args"] = host["ansible_ssh_common_args"].replace("-o IdentitiesOnly=yes", "")
    return str(yaml.safe_dump(inventory))


def _cluster(folder: Path) -> str:
    password = folder / "password"
    password.write_text(PASSWORD)
    sealed = subprocess.run(
        [str(Path(sys.executable).with_name("ansible-vault")), "encrypt_string", TOKEN, "--name", "STAGING_TOKEN"],
        env={**os.environ, "ANSIBLE_VAULT_PASSWORD_FILE": str(password)},
        capture_output=True,
        text=True,
        check=True,
    ).stdout
    block = "    kafka_environment:\n" + "".join(f"      {line}\n" for line in sealed.splitlines() if line.strip())
    return TRIO_ZK.replace("  children:", f"{block}  children:", 1)


@pytest.fixture
def staging(fleet: NewFleet, tmp_path: Path) -> Staging:
    return Staging(fleet(3, _cluster(tmp_path)), tmp_path)


def test_staging_is_deployed_again_changed_and_broken(staging: Staging, tmp_path: Path) -> None:
    cluster = (staging.fleet.inventory / "cluster.yml").read_text()

    said = staging.deploy()
    assert "staging is deployed" in said
    assert TOKEN not in said + "".join(path.read_text() for path in staging.artifacts.iterdir())
    assert TOKEN in staging.fleet.lab.ssh("h1", "cat /etc/kafka/kafka.env")
    assert staging.suites() == {"validate": 0, "check": 0, "provision": 0, "smoke": 0}
    assert staging.result("smoke")["holds"] is True
    assert (staging.home / ".ssh/known_hosts").read_text() == "staging1.example.com ssh-ed25519 AAAA\n"
    bootstrap = staging.result("provision")["bootstrap"]

    said = staging.deploy()
    result = staging.result("provision")
    assert (result["changed"], result["restarted"], result["holds"]) == ([], [], True)

    # A changed setting rolls through under load; whoever deploys meanwhile is told who holds the lock.
    staging.fleet.write(cluster.replace("kafka_config: {", "kafka_config: {queued.max.requests: 600, "))
    with under_load(staging.fleet, bootstrap, "under-load") as rolled, staging.start() as first:
        staging.wait_for_run(3)
        told, code = staging.ended(tmp_path / "second")
        assert code == 7, told
        assert "another kcluster run works on trio" in told
        told, code = staging.ended()
        assert code == 7, told
        assert f"error: another deployment writes to {staging.artifacts}/: process {first.pid} of " in told
        said, code = _ended(first)
    assert code == 0, said
    assert staging.suites() == {"validate": 0, "check": 0, "provision": 0, "smoke": 0}
    assert len(staging.result("provision")["restarted"]) == 3
    rolled.assert_served()

    faults.power_cut(staging.fleet.lab.host("h3"))
    staging.fleet.write(cluster.replace("kafka_config: {", "kafka_config: {queued.max.requests: 700, "))
    said = staging.deploy(code=6)
    assert "h3" in said
    assert staging.suites()["check"] > 0
    assert "queued.max.requests=600" in staging.fleet.lab.ssh("h1", "cat /etc/kafka/server.properties")
