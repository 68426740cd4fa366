"""A rolling restart beside bare `systemctl restart`s, and a start with a class data archive beside one without."""

from __future__ import annotations

import json
import statistics
import tempfile
from pathlib import Path

from tests.bench.bench_provision import bare, spent
from tests.hosts.fleet import TRIO_ZK, Fleet
from tests.hosts.under_load import under_load

RUNS = 2
STARTS = 8
"""How many restarts of one broker are timed; one alone is a tenth more or less than the next."""
BROKERS = 3

WITHOUT_ARCHIVE = """set -e
mkdir -p /etc/systemd/system/kafka.service.d
start='/opt/kafka/current/bin/kafka-server-start.sh /etc/kafka/server.properties'
printf '[Service]\\nExecStart=\\nExecStart=%s\\n' "$start" >/etc/systemd/system/kafka.service.d/bench.conf
systemctl daemon-reload
"""
WITH_ARCHIVE = "rm -r /etc/systemd/system/kafka.service.d; systemctl daemon-reload"
BY_HAND = """
import json, subprocess, sys, time
from confluent_kafka import KafkaException
from confluent_kafka.admin import AdminClient

broker, others, connected, *restart = sys.argv[1:]
client = AdminClient({"bootstrap.servers": others, "log_level": 0})
client.list_topics(timeout=10)  # connects

def until(seen):
    deadline = time.monotonic() + 120
    while time.monotonic() < deadline:
        try:
            if seen(client.list_topics(timeout=2)):
                return time.perf_counter() - begin
        except KafkaException:
            pass
        time.sleep(0.05)
    raise TimeoutError

def in_sync(found):
    partitions = [each for topic in found.topics.values() for each in topic.partitions.values()]
    return all(len(each.isrs) == len(each.replicas) for each in partitions)

begin = time.perf_counter()
host = subprocess.Popen(restart, stdin=subprocess.PIPE, stdout=subprocess.PIPE)
host.stdout.readline()  # it is entered
if connected == "True":
    begin = time.perf_counter()
host.communicate(b"go\\n")
assert host.returncode == 0
registered = until(lambda found: int(broker) in found.brokers)
print(json.dumps({"registered": registered, "caught_up": until(in_sync)}))
"""


def run() -> list[tuple[str, float, float, float]]:
    """Rolls and restarts by hand in turn, under the same load; what was acknowledged must be there in the end."""
    with tempfile.TemporaryDirectory() as name, bare(3, TRIO_ZK, Path(name, "roll")) as fleet:
        fleet.run("provision", "-i", str(fleet.inventory), "--yes")
        _roll(fleet)  # from here on every broker starts from its archive
        rolls, bares, gaps, bare_gaps = [], [], [], []
        for number in range(RUNS):
            with under_load(fleet, _bootstrap(fleet), f"roll-{number}") as load:
                rolls.append(_roll(fleet) / BROKERS)
            with under_load(fleet, _bootstrap(fleet), f"by-hand-{number}") as by_hand:
                bares += [_by_hand(fleet, broker)["caught_up"] for broker in range(1, BROKERS + 1)]
            load.assert_served()
            by_hand.assert_served()
            gaps.append(load.gap)
            bare_gaps.append(by_hand.gap)
        with_archive, without = _archives(fleet)
    return [
        (
            "roll, per broker / systemctl restart and catch up (s)",
            statistics.median(rolls),
            statistics.median(bares),
            1.5,
        ),
        ("longest gap in acknowledgements, roll / by hand (s)", max(gaps), max(bare_gaps), 1.5),
        ("restart with archive of classes / without (s)", with_archive, without, 0.75),
    ]


def _roll(fleet: Fleet) -> float:
    return spent(fleet, "restart", *(f"broker-{number}" for number in range(1, BROKERS + 1)), "--yes")


def _archives(fleet: Fleet) -> tuple[float, float]:
    """Seconds from the order to restart one broker until it is registered; one restart after each change is dropped.

    Both wait on a host that is entered already, as kcluster does it: entering is the same for both, and no restart.
    """
    found = []
    for prepare in (WITHOUT_ARCHIVE, WITH_ARCHIVE):
        fleet.lab.ssh("h1", prepare)
        taken = [_by_hand(fleet, 1, connected=True)["registered"] for _ in range(1 + STARTS)]
        found.append(statistics.median(taken[1:]))
    return found[1], found[0]


def _by_hand(fleet: Fleet, broker: int, *, connected: bool = False) -> dict[str, float]:
    others = [host.address for number, host in enumerate(fleet.lab.hosts, 1) if number != broker]
    restart = fleet.lab.hosts[broker - 1].ssh.command(
        "systemctl reset-failed kafka; echo; read go; systemctl restart kafka"  # systemd would refuse the sixth
    )
    bootstrap = ",".join(f"{address}:9092" for address in others)
    told = fleet.python(BY_HAND, str(broker), bootstrap, str(connected), *restart)
    return dict(json.loads(told.stdout))


def _bootstrap(fleet: Fleet) -> str:
    return ",".join(f"{host.address}:9092" for host in fleet.lab.hosts)
