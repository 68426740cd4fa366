"""`kcluster up` of 3 + 3 beside a script that starts the same six processes from the same release with plain Java."""

from __future__ import annotations

import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from tests.bench.timing import seconds

KCLUSTER = str(Path(sys.executable).with_name("kcluster"))
RUNS = 3
NAME = "bench"


def run() -> list[tuple[str, float, float, float]]:
    """Two rows: the first `up`, which makes the archives, and the later ones."""
    with tempfile.TemporaryDirectory() as folder:
        machine = Machine(Path(folder))
        machine.without_archives()
        plain = [machine.plain()]  # also warms the page cache
        first = machine.up()
        plain.append(machine.plain())
        later = []
        for _ in range(RUNS):
            later.append(machine.up())
            plain.append(machine.plain())
        machine.forget()
    reference = sorted(plain[1:])[len(plain[1:]) // 2]
    return [
        ("first up of 3 + 3 / plain java (s)", first, reference, 1.3),
        ("later up of 3 + 3 / plain java (s)", sorted(later)[RUNS // 2], reference, 0.75),
    ]


class Machine:
    """A home of its own, and the same cluster by hand beside it."""

    def __init__(self, folder: Path) -> None:
        self._folder = folder
        self._env = {**os.environ, "KCLUSTER_HOME": str(folder / "home")}
        subprocess.run([KCLUSTER, "release", "fetch", "3.9.2"], check=True, env=self._env, capture_output=True)
        self._up_and_down()
        self._record = self._moved(folder / "home/local" / NAME / "record.json")
        self._up_and_down()  # writes the files with those ports

    def _moved(self, path: Path) -> dict[str, Any]:
        """The record with ports of its own: other clusters of this machine come and go on the usual ones."""
        record: dict[str, Any] = json.loads(path.read_text())
        base = random.randrange(20000, 30000)
        record["ports"] = {purpose: base + number for number, purpose in enumerate(record["ports"])}
        path.write_text(json.dumps(record))
        return record

    def without_archives(self) -> None:
        """As it is when a release has never been used."""
        shutil.rmtree(Path(self._record["release_home"], "cds"))

    def up(self) -> float:
        """Seconds of the whole command, with empty data; the cluster is stopped again."""
        self._empty()
        return self._up_and_down()

    def plain(self) -> float:
        """Seconds until three brokers are registered, started as people start them by hand."""
        self._empty()
        begin = time.perf_counter()
        with self._by_hand():
            self._await_brokers()
            return time.perf_counter() - begin

    def forget(self) -> None:
        """Remove the cluster."""
        seconds([KCLUSTER, "down", "-n", NAME, "--delete-data", "--confirm", NAME], env=self._env)

    def _up_and_down(self) -> float:
        taken = seconds([KCLUSTER, "up", "-n", NAME], env=self._env)
        seconds([KCLUSTER, "down", "-n", NAME], env=self._env)
        return taken

    def _empty(self) -> None:
        for data in self._folder.glob(f"home/local/{NAME}/nodes/*/data"):
            for entry in data.iterdir():
                if entry.name != "myid":
                    shutil.rmtree(entry) if entry.is_dir() else entry.unlink()

    @contextmanager
    def _by_hand(self) -> Iterator[None]:
        libs = Path(self._record["release_home"], "libs", "*")
        started = []
        for node in sorted(self._folder.glob(f"home/local/{NAME}/nodes/*")):
            broker = node.name.startswith("broker")
            main = "kafka.Kafka" if broker else "org.apache.zookeeper.server.quorum.QuorumPeerMain"
            (logging,) = node.glob("etc/*log4j.properties")
            (config,) = node.glob("etc/server.properties" if broker else "etc/zookeeper.properties")
            command = ["java", "-Xmx256m", f"-Dlog4j.configuration=file:{logging}", "-cp", str(libs), main, str(config)]
            with (node / "logs/by-hand.log").open("w") as log:
                started.append(subprocess.Popen(command, stdout=log, stderr=log))
        try:
            yield
        finally:
            for process in started:  # the brokers come first in the list, as they do in `down`
                process.terminate()
                process.wait(60)

    def _await_brokers(self) -> None:
        from confluent_kafka import KafkaException
        from confluent_kafka.admin import AdminClient

        brokers = ",".join(
            f"127.0.0.1:{port}" for purpose, port in self._record["ports"].items() if purpose.endswith("internal")
        )
        client = AdminClient(
            {"bootstrap.servers": brokers, "log_level": 0, "reconnect.backoff.ms": 50, "reconnect.backoff.max.ms": 50}
        )
        deadline = time.monotonic() + 120
        while time.monotonic() < deadline:
            try:
                if len(client.list_topics(timeout=0.2).brokers) == 3:
                    return
            except KafkaException:
                time.sleep(0.02)
        raise TimeoutError("the brokers started by hand did not register")
