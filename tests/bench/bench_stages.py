"""Staged changes under load, the control node killed in every stage: their longest pause beside a broker's restart."""

from __future__ import annotations

import re
import signal
import tempfile
from collections.abc import Callable, Collection, Mapping
from functools import partial
from pathlib import Path

from tests.bench.bench_provision import bare
from tests.hosts.fleet import SMALL, Fleet
from tests.hosts.test_stages import plan, provision, stages
from tests.hosts.under_load import Load, under_load
from tests.lab.machine import wait_until

LIMIT = 1.5
PER_SECOND = 1000
PASSWORDS = 'username="broker" password="among-us" user_broker="among-us"'
LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
HOSTS = (1, 2, 3)
KRAFT = {"kafka_version": "4.2.0", "kafka_cluster_id": "PbWmCmMSSbSvDeFTl9mVrA"}
SASL = (
    "{name: internal, port: 9092, protocol: SASL_PLAINTEXT}",
    {
        "sasl.enabled.mechanisms": "PLAIN",
        "sasl.mechanism.inter.broker.protocol": "PLAIN",
        "listener.name.internal.plain.sasl.jaas.config": f"'{LOGIN} {PASSWORDS};'",
    },
)
Way = tuple[str, str]
"""An inventory before and after."""


def inventory(
    keepers: str,
    variables: Mapping[str, str] = {},
    internal: str = "{name: internal, port: 9092}",
    config: Mapping[str, str] = {},
    more: Collection[str] = (),
) -> str:
    """Three brokers whose clients have a listener of their own, and their keepers."""
    lines = [f"    {key}: {value}" for key, value in variables.items()]
    listeners = ", ".join([internal, "{name: clients, port: 9099}", *more])
    settings = {"offsets.topic.num.partitions": "6", "transaction.state.log.num.partitions": "3", **config}
    lines += [f"    kafka_listeners: [{listeners}]", "    kafka_config:"]
    lines += [f"      {key}: {value}" for key, value in settings.items()]
    common = SMALL.format(name="ways").partition("    kafka_config:")[0].rstrip()
    brokers = "\n".join(f"        h{n}: {{kafka_broker_id: {n}}}" for n in HOSTS)
    body = "\n".join(lines)
    return f"all:\n  vars:{common}\n{body}\n  children:\n{keepers}    kafka_broker:\n      hosts:\n{brokers}\n"


def keepers(group: str, key: str, first: int) -> str:
    return f"    {group}:\n      hosts:\n" + "".join(f"        h{n}: {{{key}: {first + n}}}\n" for n in HOSTS)


ZOOKEEPER = keepers("zookeeper", "zookeeper_id", 0)
CONTROLLERS = keepers("kafka_controller", "kafka_controller_id", 3000)


def ways(group: str, variables: Mapping[str, str], moved: Mapping[str, str]) -> dict[str, Way]:
    """Every change of listeners, and of the ports of the keepers."""
    plain = inventory(group, variables)
    chosen = inventory(group, {**variables, "kafka_inter_broker_listener": "replication"}, more=[REPLICATION])
    return {
        "port of the listener": (plain, inventory(group, variables, "{name: internal, port: 9192}")),
        "another listener": (plain, chosen),
        "protocol": (plain, inventory(group, variables, *SASL)),
        **{key: (plain, inventory(group, {**variables, key: port})) for key, port in moved.items()},
    }


REPLICATION = "{name: replication, port: 9094}"
MODES = {
    "ZooKeeper": ways(ZOOKEEPER, {}, {"zookeeper_client_port": "2281", "zookeeper_peer_port": "2988"}),
    "KRaft": ways(CONTROLLERS, KRAFT, {"kafka_controller_port": "9193"}),
}


def run() -> list[tuple[str, float, float, float]]:
    """Each way there with a kill in every stage, back, and turned round in the middle."""
    rows = []
    for mode, every in MODES.items():
        with (
            tempfile.TemporaryDirectory() as folder,
            bare(3, next(iter(every.values()))[0], Path(folder, mode.lower())) as fleet,
        ):
            provision(fleet)
            yardstick = measured(fleet, "bare", partial(restart, fleet))
            for number, (what, (before, after)) in enumerate(every.items()):
                waits_for_whoever_is_away(fleet, before, after)
                load = measured(fleet, f"way-{number}", partial(walk, fleet, before, after))
                rows.append((f"{mode}, {what}: longest pause (s)", load.gap, yardstick.gap, LIMIT))
    return rows


def measured(fleet: Fleet, topic: str, change: Callable[[], None]) -> Load:
    """What became of a load during a change; nothing acknowledged is lost."""
    at = ",".join(f"{host.address}:9099" for host in fleet.lab.hosts)
    with under_load(fleet, at, topic, per_second=PER_SECOND) as load:
        change()
    load.assert_served(longest_gap=60)
    print(
        f"{topic}: {load.acknowledged} of {load.sent} acknowledged, longest pause {load.gap} s, {load.slowest} s",
        flush=True,
    )
    return load


def restart(fleet: Fleet) -> None:
    """Each broker by hand, and the next one when all replicas are in sync."""
    for host in fleet.lab.hosts:
        fleet.lab.ssh(host.name, "systemctl restart kafka")
        wait_until(lambda: well(fleet), 120, "every replica is in sync")


def well(fleet: Fleet) -> bool:
    return fleet.run("health", "-i", str(fleet.inventory), check=False).returncode == 0


def waits_for_whoever_is_away(fleet: Fleet, before: str, after: str) -> None:
    """With one broker frozen, and with two, the change stops before anything is restarted."""
    fleet.write(after)
    began = started(fleet)
    for frozen in (("h3",), ("h2", "h3")):
        for host in frozen:
            fleet.lab.ssh(host, "systemctl kill --signal STOP kafka")
        stopped(fleet)
        for host in frozen:
            fleet.lab.ssh(host, "systemctl kill --signal CONT kafka")
        wait_until(lambda: well(fleet), 120, "every replica is in sync")
    assert started(fleet) == began, "something was restarted"
    fleet.write(before)
    provision(fleet)


def stopped(fleet: Fleet) -> None:
    done = fleet.run("provision", "-i", str(fleet.inventory), "--yes", "--no-smoke", "--gate-timeout", "3", check=False)
    print(f"  exit {done.returncode}: {done.stderr.strip().splitlines()[-4:]}", flush=True)
    assert done.returncode in (4, 6), done.stderr


def started(fleet: Fleet) -> list[str]:
    """When each broker was started."""
    return [fleet.lab.ssh(host.name, "systemctl show kafka -p ExecMainStartTimestamp") for host in fleet.lab.hosts]


def walk(fleet: Fleet, before: str, after: str) -> None:
    fleet.write(after)
    killed: list[str] = []
    while killed_in_a_stage(fleet, killed):
        pass
    assert plan(fleet)["nothing"], "the changed cluster is not as wanted"
    there = len(killed)
    fleet.write(before)
    provision(fleet)
    fleet.write(after)
    for done in range((there + 1) // 2):
        assert killed_in_a_stage(fleet, killed[:done]), "it was over too soon"
    fleet.write(before)
    print(f"  killed in {killed}; back from the middle in {[stage['title'] for stage in stages(fleet)]}", flush=True)
    provision(fleet)
    assert plan(fleet)["nothing"], "it did not come back"


def killed_in_a_stage(fleet: Fleet, killed: list[str]) -> bool:
    """Walk on, and die in the first stage that is not among these after its first restart; False when all is done."""
    now = ""
    with fleet.process("provision", "-i", str(fleet.inventory), "--yes", "--no-smoke") as run:
        assert run.stderr is not None
        said = []
        for line in run.stderr:
            said.append(line)
            if found := re.match(r"  stage: (.*)", line):
                now = found[1]
            turn = re.search(r"restarting .*\((\d+) of (\d+)\)", line)
            if turn and now not in killed and (turn[1] == "2" or turn[2] == "1"):
                run.send_signal(signal.SIGKILL)
                killed.append(now)
                return True
        assert run.wait() == 0, "".join(said)
    return False
