"""`kcluster plan` against real hosts: bare, provisioned, changed, and with disks of somebody else."""

from __future__ import annotations

import json
from typing import Any

from tests.hosts.conftest import NewFleet
from tests.hosts.fleet import SOLO_KRAFT, TRIO_ZK, Fleet
from tests.lab import faults


def planned(fleet: Fleet) -> Any:
    return json.loads(fleet.run("plan", "-i", str(fleet.inventory), "-o", "json", check=False).stdout)


def touched(fleet: Fleet, *folders: str) -> list[str]:
    """The files that a plan leaves behind on a host."""
    fleet.lab.ssh("h1", "touch /marker")
    fleet.run("plan", "-i", str(fleet.inventory))
    told = fleet.lab.ssh("h1", f"find {' '.join(folders)} -xdev -newer /marker -type f -not -path '/var/log/*'")
    return told.split()


def reasons(plan: Any) -> dict[str, list[str]]:
    return {restart["node"]: restart["reasons"] for restart in plan["restarts"]}


def test_bare_hosts_are_planned_from_nothing_and_nothing_is_written_there(fleet: NewFleet) -> None:
    trio = fleet(3, TRIO_ZK)
    assert touched(trio, "/etc", "/opt", "/var", "/usr", "/home", "/root") == []
    bare = planned(trio)
    assert bare["fresh"]
    assert [start["node"] for start in bare["starts"]][:4] == ["zookeeper-1", "zookeeper-2", "zookeeper-3", "broker-1"]


def test_a_plan_tells_the_truth_about_a_cluster_that_runs_and_its_changes(running: NewFleet) -> None:
    trio = running(3, TRIO_ZK)
    said = trio.run("plan", "-i", str(trio.inventory)).stdout
    assert said == "trio: nothing to do: every host is as the inventory says\n"
    assert touched(trio, "/etc", "/opt", "/usr", "/run/kafka", "/run/zookeeper") == []

    _a_change_restarts_one_after_the_other_those_in_charge_last(trio)
    _what_kafka_takes_while_it_runs_needs_no_restart(trio)
    _a_file_that_somebody_changed_by_hand_shows_as_a_diff_without_its_secrets(trio)
    _a_disk_of_another_node_is_refused(trio)
    _a_host_without_python_and_hosts_out_of_reach_are_named(trio)


def _a_change_restarts_one_after_the_other_those_in_charge_last(trio: Fleet) -> None:
    roles = json.loads(trio.run("status", "-i", str(trio.inventory), "-o", "json").stdout)["nodes"]
    leader = next(node["node"] for node in roles if node["role"] == "leader")
    controller = next(node["node"] for node in roles if node["role"] == "controller")
    trio.write(
        TRIO_ZK.replace("zookeeper_heap: 128m", "zookeeper_heap: 144m").replace(
            "kafka_config: {", "kafka_config: {queued.max.requests: 600, "
        )
    )
    plan = planned(trio)
    order = [restart["node"] for restart in plan["restarts"]]
    assert order[2] == leader
    assert order[5] == controller
    assert set(order[:3]) == {"zookeeper-1", "zookeeper-2", "zookeeper-3"}
    assert reasons(plan)[leader] == ["KAFKA_HEAP_OPTS -Xms128m -Xmx128m -> -Xms144m -Xmx144m"]
    assert reasons(plan)[controller] == ["queued.max.requests 500 -> 600"]
    # The files are written, the processes run on: what they were started with counts.
    trio.ansible("provision.yml")
    later = planned(trio)
    assert later["changes"] == []
    assert reasons(later) == reasons(plan)


def _what_kafka_takes_while_it_runs_needs_no_restart(trio: Fleet) -> None:
    trio.write(TRIO_ZK.replace("kafka_config: {", "kafka_config: {num.io.threads: 12, "))
    plan = planned(trio)
    brokers = ["broker-1", "broker-2", "broker-3"]
    assert [setting["node"] for setting in plan["settings"]] == brokers
    assert not set(reasons(plan)) & set(brokers)
    trio.python(_TELL, json.dumps([host.address for host in trio.lab.hosts]))
    assert planned(trio)["settings"] == [], "they were told, and the plan knows"


_TELL = """
import json, sys
from confluent_kafka.admin import AdminClient, AlterConfigOpType, ConfigEntry, ConfigResource, ResourceType
admin = AdminClient({"bootstrap.servers": ",".join(f"{address}:9092" for address in json.loads(sys.argv[1]))})
for broker in ("1", "2", "3"):
    entry = ConfigEntry("num.io.threads", "12", incremental_operation=AlterConfigOpType.SET)
    place = ConfigResource(ResourceType.BROKER, broker, incremental_configs=[entry])
    admin.incremental_alter_configs([place])[place].result(20)
"""


def _a_file_that_somebody_changed_by_hand_shows_as_a_diff_without_its_secrets(trio: Fleet) -> None:
    trio.lab.ssh("h2", "echo 'ssl.key.password=opensesame' >> /etc/kafka/server.properties")
    trio.lab.ssh("h2", "sed -i s/autopurge.purgeInterval=1/autopurge.purgeInterval=9/ /etc/kafka/zookeeper.properties")
    said = trio.run("plan", "-i", str(trio.inventory)).stdout
    assert "-ssl.key.password=********" in said
    assert "-autopurge.purgeInterval=9" in said
    assert "+autopurge.purgeInterval=1" in said
    assert "opensesame" not in said


def _a_disk_of_another_node_is_refused(trio: Fleet) -> None:
    trio.lab.ssh("h3", "sed -i s/broker.id=3/broker.id=9/ /var/lib/kafka/meta.properties")
    done = trio.run("plan", "-i", str(trio.inventory), check=False)
    trio.lab.ssh("h3", "sed -i s/broker.id=9/broker.id=3/ /var/lib/kafka/meta.properties")
    assert done.returncode == 4
    assert "broker-3 on h3: /var/lib/kafka/meta.properties says 9, the inventory says 3" in done.stdout
    assert "try: set kafka_broker_id: 9 for h3" in done.stdout


def _a_host_without_python_and_hosts_out_of_reach_are_named(trio: Fleet) -> None:
    trio.lab.ssh("h1", "mv /usr/bin/python3 /usr/bin/hidden")
    done = trio.run("plan", "-i", str(trio.inventory), check=False)
    assert (done.returncode, "h1 has no python3" in done.stderr) == (4, True)
    faults.shutdown(trio.lab.host("h2"))
    faults.shutdown(trio.lab.host("h3"))
    done = trio.run("plan", "-i", str(trio.inventory), check=False)
    assert done.returncode == 6
    assert "3 of 3 hosts cannot be inspected: h1, h2, h3" in done.stderr
    trio.write(TRIO_ZK.replace("zookeeper_heap: 128m", "zookeeper_heap: lots"))
    assert trio.run("plan", "-i", str(trio.inventory), check=False).returncode == 3


def test_a_bare_kraft_cluster_is_planned_with_its_storage(fleet: NewFleet) -> None:
    changes = planned(fleet(1, SOLO_KRAFT))["changes"]
    formats = [(change["node"], change["what"]) for change in changes if change["action"] == "format"]
    assert formats == [("controller-3001", "/var/lib/kafka-controller"), ("broker-1", "/var/lib/kafka")]


def test_a_kraft_cluster_is_held_to_its_id_and_its_line_of_releases(running: NewFleet) -> None:
    one = running(1, SOLO_KRAFT)
    assert planned(one)["nothing"]
    one.write(SOLO_KRAFT.replace("-bWm", "AbWm").replace("4.2.0", "4.1.1"))
    plan = planned(one)
    assert len(plan["refused"]) == 4, "of each node another line of releases, and the disk of another cluster"
    assert "belongs to the cluster -bWmCmMSSbSvDeFTl9mVrA" in json.dumps(plan["refused"])
