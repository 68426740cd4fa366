"""Changes that take several stages, on real hosts under load: interrupted anywhere they go on, or walk back."""

from __future__ import annotations

import json
import signal
from typing import Any

from tests.hosts.fleet import TRIO_KRAFT, TRIO_ZK, Fleet, NewFleet, served
from tests.hosts.under_load import under_load
from tests.lab.machine import wait_until

SASL = TRIO_ZK.replace(
    "    kafka_config: {offsets.topic.num.partitions: 6, transaction.state.log.num.partitions: 3}\n",
    """    kafka_listeners:
      - {name: internal, port: 9092, protocol: SASL_PLAINTEXT}
      - {name: clients, port: 9095}
    kafka_topics: [{name: declared}]
    kafka_config:
      offsets.topic.num.partitions: 6
      transaction.state.log.num.partitions: 3
      sasl.enabled.mechanisms: PLAIN
      sasl.mechanism.inter.broker.protocol: PLAIN
      listener.name.internal.plain.sasl.jaas.config: >-
        org.apache.kafka.common.security.plain.PlainLoginModule required
        username="broker" password="among-us" user_broker="among-us";
""",
)
"""The brokers among themselves with SASL, their clients as before at another port."""
OTHER_PORT = TRIO_KRAFT.replace(
    "    kafka_controller_heap", "    kafka_controller_port: 9193\n    kafka_controller_heap"
)
OTHER_VOTERS = TRIO_KRAFT.replace(", h2: {kafka_controller_id: 3002}, h3: {kafka_controller_id: 3003}", "")
STARTED = "cat /run/kafka/release /run/zookeeper/release; cd /opt/kafka; readlink current-kafka current-zookeeper"
WIPE_SERVER = "systemctl stop zookeeper; rm -rf /var/lib/zookeeper/*"
WIPE_CONTROLLER = "systemctl stop kafka-controller; rm -rf /var/lib/kafka-controller/*"


def members(*numbers: int) -> str:
    """Three brokers, and ZooKeeper servers on these hosts."""
    hosts = ", ".join(f"h{number}: {{zookeeper_id: {number}}}" for number in numbers)
    return TRIO_ZK.replace("h1: {zookeeper_id: 1}, h2: {zookeeper_id: 2}, h3: {zookeeper_id: 3}", hosts)


def test_the_protocol_between_brokers_changes_and_empty_servers_stay_out(running: NewFleet) -> None:
    trio = running(3, TRIO_ZK)
    the_first_stage_opens_a_listener_beside(trio)
    the_others_follow_under_load_though_the_control_node_dies(trio)
    servers_without_data_do_not_outvote_the_one_that_has_some(trio)


def test_the_ensemble_grows_and_shrinks_by_one_server_at_a_time(running: NewFleet) -> None:
    five = running(5, members(1))
    at = ",".join(f"{host.address}:9092" for host in five.lab.hosts[:3])
    with under_load(five, at, "members") as load:
        five.write(members(1, 2, 3))
        killed_in_the_roll(five, "add zookeeper-3")
        five.write(members(1, 2, 3, 4, 5))
        assert all(f"add zookeeper-{number}" not in json.dumps(provision(five)) for number in (2, 3))
        five.write(members(1, 2, 3))
        for number in (5, 4):
            refused(five, f"zookeeper-{number} leaves the ensemble and still runs")
            five.lab.ssh(f"h{number}", "systemctl disable --now zookeeper")
        provision(five)
    load.assert_served()
    assert five.lab.ssh("h1", "grep -c ^server /etc/kafka/zookeeper.properties").strip() == "3"
    assert plan(five)["nothing"]


def test_controllers_move_to_another_port_and_back_and_keep_the_metadata(running: NewFleet) -> None:
    trio = running(3, TRIO_KRAFT)
    with under_load(trio, trio.bootstrap, "controllers") as load:
        trio.write(OTHER_PORT)
        killed_in_the_roll(trio, "all nodes ask controllers at port 9193")
        assert [stage["title"] for stage in stages(trio)] == [
            "all nodes ask controllers at port 9193",
            "close port 9093 of the controllers",
        ]
        trio.write(TRIO_KRAFT)
        provision(trio)
    load.assert_served()
    assert plan(trio)["nothing"]
    trio.write(OTHER_VOTERS)
    refused(trio, "static voters cannot change safely")
    trio.write(TRIO_KRAFT)
    for host in ("h1", "h2"):
        trio.lab.ssh(host, WIPE_CONTROLLER)
    refused(trio, "2 of 3 controllers have no data (controller-3001 on h1, controller-3002 on h2)")


def test_another_release_is_started_at_a_nodes_turn_and_never_by_accident(running: NewFleet) -> None:
    trio = running(3, TRIO_ZK)
    with under_load(trio, trio.bootstrap, "releases") as load:
        trio.write(TRIO_ZK.replace("  children:", "    kafka_version: 3.9.1\n  children:", 1))
        killed_in_the_roll(trio, "nodes start kafka_2.13-3.9.1 in place of kafka_2.13-3.9.2")
        assert len({trio.lab.ssh(host, "readlink /opt/kafka/current") for host in ("h1", "h2", "h3")}) == 1
        trio.lab.ssh("h3", "systemctl restart kafka")
        assert trio.lab.ssh("h3", "cat /run/kafka/release").strip() == "kafka_2.13-3.9.2"
        trio.write(TRIO_ZK)
        wait_until(lambda: trio.run("health", "-i", str(trio.inventory), check=False).returncode == 0, 60, "it is well")
        walked_back = provision(trio)
    load.assert_served()
    assert walked_back["left"] == ""
    assert plan(trio)["nothing"]
    assert {trio.lab.ssh(host, STARTED) for host in ("h1", "h2", "h3")} == {"kafka_2.13-3.9.2\n" * 4}


def the_first_stage_opens_a_listener_beside(trio: Fleet) -> None:
    trio.lab.ssh("h2", "systemd-run --unit squatter --quiet python3 -m http.server 9093")
    wait_until(lambda: "9093" in trio.lab.ssh("h2", "ss -tln"), 20, "the port is taken")
    trio.write(SASL)
    refused(trio, "port 9093 of broker-2 is held by")
    trio.lab.ssh("h2", "systemctl stop squatter")
    for how in ((), ("--check",)):
        done = trio.ansible("provision.yml", *how, check=False)
        assert done.returncode == 2
        assert "this change takes 5 stages, and a playbook makes one pass" in done.stdout
    assert "INTERNAL_NEXT" not in trio.lab.ssh("h1", "cat /etc/kafka/server.properties")
    assert provision(trio, "--stop-after", "1")["left"].startswith("4 stages left")
    assert "INTERNAL_NEXT://:9093" in trio.lab.ssh("h1", "cat /run/kafka/server.properties")


def the_others_follow_under_load_though_the_control_node_dies(trio: Fleet) -> None:
    """Clients at their own listener notice nothing."""
    at = ",".join(f"{host.address}:9095" for host in trio.lab.hosts)
    with under_load(trio, at, "protocol") as load:
        killed_in_the_roll(trio, "brokers talk over INTERNAL_NEXT")
        assert len(stages(trio)) == 4
        done = provision(trio)
    load.assert_served()
    assert (done["left"], done["holds"], done["topics"]) == ("", True, 1)
    started = trio.lab.ssh("h1", "cat /run/kafka/server.properties")
    assert "listener.security.protocol.map=INTERNAL:SASL_PLAINTEXT,CLIENTS:PLAINTEXT\n" in started
    assert plan(trio)["nothing"]


def servers_without_data_do_not_outvote_the_one_that_has_some(trio: Fleet) -> None:
    for host in ("h1", "h2"):
        trio.lab.ssh(host, WIPE_SERVER)
    refused(trio, "2 of 3 ZooKeeper servers have no data (zookeeper-1 on h1, zookeeper-2 on h2)")


def test_an_empty_server_joins_when_all_others_serve(running: NewFleet) -> None:
    trio = running(3, TRIO_ZK)
    trio.lab.ssh("h1", WIPE_SERVER)
    trio.lab.ssh("h2", "systemctl stop zookeeper")
    refused(trio, "may only join when all other ZooKeeper servers serve and are in sync: zookeeper-2")
    trio.lab.ssh("h2", "systemctl start zookeeper")
    provision(trio)
    served(trio)


def plan(fleet: Fleet) -> dict[str, Any]:
    found: dict[str, Any] = json.loads(fleet.run("plan", "-i", str(fleet.inventory), "-o", "json").stdout)
    return found


def stages(fleet: Fleet) -> list[dict[str, Any]]:
    """The stages that are left."""
    first = plan(fleet)
    return [first, *first["later"]]


def provision(fleet: Fleet, *args: str) -> dict[str, Any]:
    done = fleet.run("provision", "-i", str(fleet.inventory), "--yes", "--no-smoke", "-o", "json", *args)
    found: dict[str, Any] = json.loads(done.stdout)
    return found


def refused(fleet: Fleet, why: str) -> None:
    """`provision` refuses to begin the next stage."""
    done = fleet.run("provision", "-i", str(fleet.inventory), "--yes", "--no-smoke", check=False)
    assert done.returncode == 4, done.stderr
    assert why in done.stderr


def killed_in_the_roll(fleet: Fleet, stage: str) -> None:
    """The control node dies when the first node of this stage has been restarted."""
    with fleet.process("provision", "-i", str(fleet.inventory), "--yes", "--no-smoke") as run:
        assert run.stderr is not None
        assert any(line.startswith(f"  stage: {stage}") for line in run.stderr), f"{stage}: it never began"
        assert any("(2 of " in line for line in run.stderr), f"{stage}: no node was restarted"
        run.send_signal(signal.SIGKILL)
