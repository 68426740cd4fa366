"""The floor: what a hand-written script over parallel ssh needs for the same cluster on the same bare hosts.

It pipes the tarball, unpacks, puts the very files `kcluster render` prints, starts the units, and waits for three
registered brokers. It checks nothing, proves nothing and cannot run twice.
"""

from __future__ import annotations

import subprocess
import time
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

from tests.hosts.fleet import Fleet

PREPARE = """set -e
useradd --system --user-group --no-create-home --shell /usr/sbin/nologin kafka
mkdir -p /opt/kafka/release
tar xz -C /opt/kafka/release --strip-components 1 --no-same-owner
ln -s release /opt/kafka/current-kafka
ln -s release /opt/kafka/current-zookeeper
"""
START = """set -e
tar x -C / --no-same-owner --no-overwrite-dir
chgrp kafka /etc/kafka/*
chmod 640 /etc/kafka/*
chmod 755 /opt/kafka/start-node.sh
install -d -o kafka -g kafka $(sed -n 's/^ReadWritePaths=//p' /etc/systemd/system/{kafka,zookeeper}.service)
chown kafka: /var/lib/zookeeper/myid
systemctl daemon-reload
systemctl start zookeeper kafka
"""
REGISTERED = """
import sys, time
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient
client = AdminClient({
    "bootstrap.servers": sys.argv[1], "log_level": 0, "reconnect.backoff.ms": 50, "reconnect.backoff.max.ms": 50
})
deadline = time.monotonic() + 120
while time.monotonic() < deadline:
    try:
        if len(client.list_topics(timeout=1).brokers) == 3:
            sys.exit(0)
    except KafkaException:
        pass
    time.sleep(0.05)
sys.exit(1)
"""


def floor(fleet: Fleet, tarball: Path, folder: Path) -> float:
    """Seconds until three brokers are registered; the tarball and the files are made before the clock starts."""
    fleet.run("render", "-i", str(fleet.inventory), "--out", str(folder))
    trees = {host.name: _packed(folder / host.name) for host in fleet.lab.hosts}
    begin = time.perf_counter()
    with ThreadPoolExecutor() as threads:
        list(threads.map(lambda name: _install(fleet, name, tarball, trees[name]), trees))
    fleet.python(REGISTERED, ",".join(f"{host.address}:9092" for host in fleet.lab.hosts))
    return time.perf_counter() - begin


def _packed(tree: Path) -> bytes:
    return subprocess.run(["tar", "c", "-C", tree, "."], check=True, capture_output=True).stdout


def _install(fleet: Fleet, name: str, tarball: Path, tree: bytes) -> None:
    ssh = fleet.lab.host(name).ssh
    with tarball.open("rb") as release:
        subprocess.run(ssh.command(PREPARE), stdin=release, check=True, capture_output=True)
    subprocess.run(ssh.command(START), input=tree, check=True, capture_output=True)
