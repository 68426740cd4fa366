"""Changes that take several stages, on real hosts under load: interrupted anywhere they go on, or walk back."""

from __future__ import annotations

import json
import signal

from tests.hosts.fleet import TRIO_KRAFT, TRIO_ZK, Fleet, NewFleet
from tests.hosts.under_load import under_load

SASL = TRIO_ZK.replace(
    "    kafka_config: {",
    """    kafka_listeners:
      - {name: internal, port: 9092, protocol: SASL_PLAINTEXT}
      - {name: clients, port: 9095}
    kafka_config:
      sasl.enabled.mechanisms: PLAIN
      listener.name.internal.plain.sasl.jaas.config: >-
        org.apache.kafka.common.security.plain.PlainLoginModule required
        username="broker" password="among-us" user_broker="among-us";
      sasl.mechanism.inter.broker.protocol: PLAIN
      """,
    1,
).replace("offsets.topic.num.partitions: 6, transaction.state.log.num.partitions: 3}", """offsets.topic.num.partitions: 6
      transaction.state.log.num.partitions: 3""")
"""The brokers among themselves with SASL, their clients as before at another port."""


def test_the_protocol_between_brokers_changes_under_load(running: NewFleet) -> None:
    trio = running(3, TRIO_ZK)
    trio.write(SASL)
    first = provision(trio, "--stop-after", "1")
    assert first["left"].startswith("4 stages left")
    at = ",".join(f"{host.address}:9095" for host in trio.lab.hosts)
    with under_load(trio, at, "protocol") as load:
        killed_in_the_roll(trio, "talk over INTERNAL_NEXT")
        done = provision(trio)
    assert not done["left"] and done["holds"]
    load.assert_served()
    listening = trio.lab.ssh("h1", "grep -E '^(inter.broker|listener.security)' /etc/kafka/server.properties")
    assert "INTERNAL:SASL_PLAINTEXT,CLIENTS:PLAINTEXT" in listening
    assert "NEXT" not in listening
    plan = json.loads(trio.run("plan", "-i", str(trio.inventory), "-o", "json").stdout)
    assert plan["nothing"]


def provision(fleet: Fleet, *args: str) -> dict[str, object]:
    done = fleet.run("provision", "-i", str(fleet.inventory), "--yes", "--no-smoke", "-o", "json", *args)
    found: dict[str, object] = json.loads(done.stdout)
    return found


def killed_in_the_roll(fleet: Fleet, stage: str) -> None:
    """The control node dies when the first node of this stage has been restarted."""
    with fleet.process("provision", "-i", str(fleet.inventory), "--yes", "--no-smoke") as run:
        assert run.stderr is not None
        lines = iter(run.stderr)
        assert any(stage in line for line in lines), "the stage never began"
        assert any("is back" in line for line in lines), "no node was restarted"
        run.send_signal(signal.SIGKILL)


def members(*numbers: int) -> str:
    """Three brokers, and ZooKeeper servers on these hosts."""
    hosts = ", ".join(f"h{number}: {{zookeeper_id: {number}}}" for number in numbers)
    return TRIO_ZK.replace("h1: {zookeeper_id: 1}, h2: {zookeeper_id: 2}, h3: {zookeeper_id: 3}", hosts)
