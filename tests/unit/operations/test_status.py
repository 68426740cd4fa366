from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import pytest

from kcluster.clients.processes import Process
from kcluster.clients.wire import NodeIdentity, QuorumState
from kcluster.config import file_paths
from kcluster.errors import ExitCode, UnreachableError
from kcluster.facts.node_roles import roles_of
from kcluster.local import topology
from kcluster.local.cluster_record import ClusterRecord, StartedProcess, UpOrigin
from kcluster.local.up_request import cluster_dir
from kcluster.model.observed import ObservedHost, ObservedNode, ObservedUnit
from kcluster.operations import status
from kcluster.operations.status.remote_status import of
from kcluster.operations.status.status_result import ClusterStatus, duration
from kcluster.plan import restart_reasons as running_plan
from kcluster.plan.pairs import Pair
from tests.unit.fake_hosts import HOSTS as HOSTS_3
from tests.unit.fake_hosts import SPARKED
from tests.unit.plan.observed_hosts import OLD, altered, node_seen, running


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KCLUSTER_HOME", str(tmp_path))
    return tmp_path


def remember(name: str, **changes) -> None:
    record = ClusterRecord(cluster_dir(name), topology.cluster_of(name, UpOrigin(brokers=1, keepers=1), ""))
    replace(record, **changes).save()


def test_it_works_when_everything_is_stopped():
    remember("s")
    found = status.status("s")
    assert [node.state for node in found.nodes] == ["stopped", "stopped"]
    assert found.exit_code is ExitCode.NO


def test_a_node_that_ended_by_itself_has_crashed():
    remember("s", started={"broker-1": StartedProcess(Process(1, 1), "")})
    assert {node.node: node.state for node in status.status("s").nodes}["broker-1"] == "crashed"


def test_several_clusters_are_listed_in_one_line_each():
    remember("a")
    remember("b")
    assert [(line.name, line.running, line.nodes) for line in status.clusters().clusters] == [("a", 0, 2), ("b", 0, 2)]


@pytest.mark.parametrize(
    ("seconds", "words"), [(None, ""), (0, "0 s"), (59, "59 s"), (61, "1 min 1 s"), (7200, "2 h"), (90061, "1 d 1 h")]
)
def test_a_duration_has_the_two_units_that_matter(seconds, words):
    assert duration(seconds) == words


ZOOKEEPER = topology.cluster_of("c", UpOrigin(brokers=3, keepers=3), "")
KRAFT = topology.cluster_of("c", UpOrigin(brokers=1, keepers=3, kraft=True), "PbWmCmMSSbSvDeFTl9mVrA")
HOSTS = {node.name: node.host.name for node in ZOOKEEPER.nodes}
UP = ObservedUnit("active", enabled=True, pid=7, uptime_seconds=61.5, memory_bytes=1 << 28)


def seen(**units: ObservedUnit) -> dict[str, ObservedHost]:
    """Every node up, but for those that are named with underscores."""
    return {
        HOSTS[node.name]: ObservedHost(
            HOSTS[node.name], nodes={node.name: ObservedNode(units.get(node.name.replace("-", "_"), UP))}
        )
        for node in ZOOKEEPER.nodes
    }


def everyone(role: str = "") -> dict[str, str]:
    return {node.name: role for node in ZOOKEEPER.nodes}


def states(found: ClusterStatus) -> dict[str, str]:
    return {node.node: node.state for node in found.nodes}


def test_on_hosts_status_is_done_when_all_nodes_run_and_serve():
    found = of(ZOOKEEPER, [seen()], everyone(), "-i inv")
    assert (set(states(found).values()), found.exit_code) == ({"running"}, ExitCode.DONE)
    assert found.nodes[0].uptime_seconds == 61


@pytest.mark.parametrize(
    ("unit", "word", "way"),
    [
        (ObservedUnit("inactive"), "stopped", "start"),
        (ObservedUnit("failed", restarts=5), "failed", "start"),
        (ObservedUnit("missing"), "missing", "provision"),
        (ObservedUnit("activating"), "starting", "health --wait 120s"),
        (ObservedUnit("activating", restarts=2), "restarting", "logs"),
        (ObservedUnit("deactivating"), "stopping", "health --wait 120s"),
    ],
)
def test_a_unit_that_does_not_run_exits_with_no_and_its_remedy(unit, word, way):
    found = of(ZOOKEEPER, [seen(broker_2=unit)], everyone(), "-i inv")
    assert (states(found)["broker-2"], found.exit_code) == (word, ExitCode.NO)
    said = list(found.view())[-1]
    assert f"kcluster {way} -i inv" in said
    assert ("kcluster start" in said) == (word in ("stopped", "failed"))


def test_a_process_that_does_not_answer_is_not_yet_running():
    roles = {name: role for name, role in everyone().items() if name != "broker-2"}
    found = of(ZOOKEEPER, [seen()], roles, "-i inv")
    assert states(found)["broker-2"] == "starting"
    assert any("no answer at " in str(row) for row in next(iter(found.view())).rows)


@pytest.mark.parametrize(
    ("name", "port", "state"),
    [
        ("broker-2", "internal", "not answering"),
        ("broker-2", "metrics", "starting"),
        ("zookeeper-2", "client_port", "starting"),
        ("zookeeper-2", "election_port", "not answering"),
    ],
)
def test_a_process_that_opened_its_last_port_has_started_and_hangs(name, port, state):
    (node,) = ZOOKEEPER.find(name)
    number = {"internal": lambda: node.internal.port, "metrics": lambda: 7071}.get(port, lambda: getattr(node, port))()
    hung = replace(UP, listening=("127.0.0.1:1", f"[::]:{number}"))
    roles = {other: role for other, role in everyone().items() if other != name}
    found = of(ZOOKEEPER, [seen(**{name.replace("-", "_"): hung})], roles, "-i inv")
    assert (states(found)[name], found.exit_code) == (state, ExitCode.NO)
    rows = str(next(iter(found.view())).rows)
    assert ("listens and does not answer at " in rows) == (state == "not answering")
    assert ("see why a node fails: kcluster logs -i inv" in list(found.view())[-1]) == (state == "not answering")


def test_a_single_zookeeper_server_holds_no_election():
    cluster = topology.cluster_of("c", UpOrigin(brokers=1, keepers=1), "")
    (server,) = cluster.metadata.nodes
    hung = replace(UP, listening=(f"10.0.0.1:{server.client_port}",))
    hosts = {
        node.host.name: ObservedHost(node.host.name, nodes={node.name: ObservedNode(hung)}) for node in cluster.nodes
    }
    assert states(of(cluster, [hosts], {"broker-1": ""}, "-i inv"))[server.name] == "not answering"


def test_a_zookeeper_server_without_a_quorum_answers_and_does_not_serve():
    found = of(ZOOKEEPER, [seen()], {**everyone(), "zookeeper-2": "no quorum"}, "-i inv")
    node = next(node for node in found.nodes if node.node == "zookeeper-2")
    assert (node.state, node.role, found.exit_code) == ("not serving", "no quorum", ExitCode.NO)
    assert "kcluster logs -i inv" in list(found.view())[-1]


def test_an_unreachable_host_is_a_row_with_its_remedy():
    host = HOSTS["broker-2"]
    answers = {**seen(), host: UnreachableError(f"{host}: no route to host", resolution="switch it on")}
    found = of(ZOOKEEPER, [answers], everyone(), "-i inv")
    assert states(found)["broker-2"] == "unreachable"
    assert states(found)["broker-1"] == "running"
    assert found.exit_code is ExitCode.UNREACHABLE
    assert "  try: switch it on" in list(found.view())
    assert f"{host}: no route to host" in [getattr(block, "text", "") for block in found.view()]


def test_dynamic_config_needs_no_restart():
    node = OLD.brokers[0]
    assert not running_plan.pending_restart(Pair(OLD, node, running(OLD)["h1"]))
    path = file_paths.paths(node, log4j2=False).config

    def lying(line: str) -> tuple[str, ...]:
        seen = node_seen(OLD, node)
        file = seen.files[path]
        files = {**seen.files, path: replace(file, text=f"{file.text}{line}\n")}
        return running_plan.pending_restart(Pair(OLD, node, altered(running(OLD), "h1", node.name, files=files)["h1"]))

    assert lying("# by hand") == ()
    assert lying("log.retention.bytes=1000000") == (), "the broker takes it while it runs"
    assert lying("log.cleaner.threads=2") == ("log.cleaner.threads 1 -> 2",), "it may run out of memory over it"
    assert lying("queued.max.requests=600") == ("queued.max.requests 500 -> 600",)
    other = replace(running(OLD)["h1"], current="kafka_2.13-3.9.1")
    assert running_plan.pending_restart(Pair(OLD, node, other)) == ("release kafka_2.13-3.9.2 -> kafka_2.13-3.9.1",)


def test_with_zookeeper_one_registered_broker_is_the_controller():
    identity = NodeIdentity("id", 2, frozenset((1, 2)))
    told = {"zookeeper-1": "leader", "broker-1": identity, "broker-2": identity, "broker-3": identity}
    assert roles_of(ZOOKEEPER, told) == {"zookeeper-1": "leader", "broker-1": "", "broker-2": "controller"}


def test_a_broker_whose_listener_asks_for_credentials_serves_when_its_door_is_open():
    assert roles_of(ZOOKEEPER, {"broker-1": ""}) == {"broker-1": ""}


def test_with_kraft_the_leader_of_the_quorum_tells_who_follows():
    leads, first = KRAFT.metadata.nodes[1], KRAFT.metadata.nodes[0]
    told = {
        first.name: "",
        leads.name: QuorumState(leads.id, 3, 10, (), ()),
        "broker-1": NodeIdentity("i", 1, frozenset((1,))),
    }
    assert roles_of(KRAFT, told) == {first.name: "follower", leads.name: "leader", "broker-1": ""}


def test_spark_has_no_ids_and_a_worker_that_nobody_knows_is_not_yet_running():
    kafka = {
        host.name: ObservedHost(host.name, nodes={n.name: ObservedNode(UP) for n in SPARKED.on(host)})
        for host in HOSTS_3
    }
    spark = {
        host.name: ObservedHost(host.name, nodes={n.name: ObservedNode(UP) for n in SPARKED.engine.on(host)})
        for host in HOSTS_3
    }
    roles = {node.name: "" for node in SPARKED.every_node} | {"spark-master-h1": "leader"}
    found = of(SPARKED, [kafka, spark], roles, "-i inv")
    assert (found.exit_code, found.spark) == (ExitCode.DONE, SPARKED.engine.release.version)
    assert {node.id for node in found.nodes if node.kind.startswith("spark")} == {None}
    assert f"Kafka 3.9.2 and Spark {found.spark}, 10 of 10 nodes running" in str(list(found.view())[-1])

    del roles["spark-worker-h3"]
    waiting = of(SPARKED, [kafka, spark], roles, "-i inv")
    assert (states(waiting)["spark-worker-h3"], waiting.exit_code) == ("starting", ExitCode.NO)
    assert "not registered with a leading master" in str(next(iter(waiting.view())).rows)
    away = {**spark, "h3": UnreachableError("h3: no route to host")}
    lost = of(SPARKED, [{**kafka, "h3": away["h3"]}, away], roles, "-i inv")
    assert (states(lost)["spark-worker-h3"], lost.exit_code) == ("unreachable", ExitCode.UNREACHABLE)
