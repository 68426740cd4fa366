"""Plans: from what hosts should be and what was seen on them, to steps, reasons and refusals."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import replace
from typing import Any

import pytest

from kcluster import plan as planning
from kcluster import render
from kcluster.errors import ExitCode
from kcluster.model.broker import Broker
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Ensemble, Server
from kcluster.model.host import Host
from kcluster.model.listener import Listener
from kcluster.model.node import Layer, Node
from kcluster.model.observed import DirectorySeen, FileSeen, HostSeen, NodeSeen, UnitSeen
from kcluster.model.quorum import Controller, Quorum
from kcluster.model.release import Release
from kcluster.plan import Action, Dynamic, Plan, Roles, Start
from kcluster.results import Cell
from kcluster.variables.places import data_dirs, paths

HOSTS = tuple(Host(f"h{number}", f"10.0.0.{number}") for number in (1, 2, 3))
ID, OTHER = "PbWmCmMSSbSvDeFTl9mVrA", "AbWmCmMSSbSvDeFTl9mVrA"


def broker(host: Host, **given: Any) -> Broker:
    number = int(host.name[1:])
    listener = Listener(name="internal", port=9092, advertised_host=host.address, advertised_port=9092)
    return Broker(**{"host": host, "id": number, "listeners": (listener,), **given})


SERVERS = tuple(Server(host=host, id=number) for number, host in enumerate(HOSTS, 1))
CONTROLLERS = tuple(Controller(host=host, id=3000 + number) for number, host in enumerate(HOSTS, 1))
BROKERS = tuple(broker(host) for host in HOSTS)
OLD = Cluster("demo", Release("3.9.2"), Ensemble(SERVERS), BROKERS)
NEW = Cluster("demo", Release("4.2.0"), Quorum(CONTROLLERS, ID), BROKERS)


def changed(cluster: Cluster, **config: str) -> Cluster:
    """The same cluster with other properties on its brokers."""
    layer = Layer("cluster", {key.replace("_", "."): value for key, value in config.items()})
    return replace(cluster, brokers=tuple(replace(one, layers=(layer,)) for one in cluster.brokers))


def with_environment(cluster: Cluster, **environment: str) -> Cluster:
    return replace(cluster, brokers=tuple(replace(one, environment=environment) for one in cluster.brokers))


def meta(cluster: Cluster, node: Node, cluster_id: str = ID) -> Mapping[str, str]:
    if isinstance(node, Server):
        return {}
    kraft = isinstance(cluster.metadata, Quorum)
    number = {"version": "1", "node.id": str(node.id)} if kraft else {"version": "0", "broker.id": str(node.id)}
    return {**number, "cluster.id": cluster_id}


def directory(cluster: Cluster, node: Node, **given: Any) -> DirectorySeen:
    plain = DirectorySeen("kafka", "/", "ext4", 10**10, 10**11, empty=False, meta=meta(cluster, node))
    return replace(plain, **({"myid": str(node.id)} if isinstance(node, Server) else {}) | given)


def node_seen(cluster: Cluster, node: Node) -> NodeSeen:
    """A node that runs exactly as the inventory says."""
    files = render.files(cluster, node, reveal=True)
    return NodeSeen(
        UnitSeen("active", enabled=True, pid=100),
        files={
            file.path: FileSeen(file.text, file.mode, "root", "kafka" if file.mode == "0640" else "root")
            for file in files
        },
        started_with={
            file.path: file.text for file in files if file.role not in (render.Role.MYID, render.Role.SCRIPT)
        },
        started_release=cluster.release.directory,
        directories={path: directory(cluster, node) for path in data_dirs(node)},
    )


def running(cluster: Cluster) -> dict[str, HostSeen]:
    """Hosts on which everything is as the inventory says."""
    release = cluster.release.directory
    return {
        host.name: HostSeen(
            host.name,
            user=True,
            releases=(release,),
            current=release,
            folders=frozenset(planning.folders(cluster.on(host))),
            nodes={node.name: node_seen(cluster, node) for node in cluster.on(host)},
        )
        for host in cluster.hosts
    }


def bare(cluster: Cluster) -> dict[str, HostSeen]:
    return {host.name: HostSeen(host.name) for host in cluster.hosts}


def altered(seen: Mapping[str, HostSeen], host: str, node: str, **given: Any) -> dict[str, HostSeen]:
    """What was seen, with something else on one node."""
    nodes = {**seen[host].nodes, node: replace(seen[host].nodes[node], **given)}
    return {**seen, host: replace(seen[host], nodes=nodes)}


def disks(cluster: Cluster, node: Node, **given: Any) -> dict[str, DirectorySeen]:
    return {path: directory(cluster, node, **given) for path in data_dirs(node)}


def plan(cluster: Cluster, seen: Mapping[str, HostSeen], roles: Roles | None = None) -> Plan:
    return planning.plan(cluster, seen, roles or Roles())


def reasons(found: Plan) -> dict[str, str]:
    return {restart.node: "; ".join(restart.reasons) for restart in found.restarts}


def text_of(found: Plan) -> str:
    return "\n".join(block.text if isinstance(block, Cell) else str(block) for block in found.view())


@pytest.mark.parametrize("cluster", [OLD, NEW])
def test_hosts_that_are_as_the_inventory_says_need_nothing(cluster: Cluster) -> None:
    found = plan(cluster, running(cluster))
    assert found.nothing
    assert text_of(found) == "demo: nothing to do: every host is as the inventory says"
    assert found.data()["nothing"] is True


def test_bare_hosts_get_everything_and_start_at_the_same_time_the_keepers_first() -> None:
    found = plan(OLD, bare(OLD))
    assert found.fresh
    assert [start.node for start in found.starts][:4] == ["zookeeper-1", "zookeeper-2", "zookeeper-3", "broker-1"]
    assert found.starts[-1] == Start("broker-3", "h3", "kafka")
    on_h1 = [(change.action, change.what) for change in found.changes if change.host == "h1"]
    assert on_h1[:4] == [
        (Action.CREATE, "account kafka"),
        (Action.PUSH, "release kafka_2.13-3.9.2"),
        (Action.CREATE, "current -> kafka_2.13-3.9.2"),
        (Action.CREATE, "directory /opt/kafka"),
    ]
    assert (Action.CREATE, "directory /var/lib/zookeeper") in on_h1
    assert (Action.CREATE, "/etc/systemd/system/kafka.service") in on_h1
    assert not found.restarts
    assert not found.refused


def test_hosts_that_change_alike_are_shown_once() -> None:
    assert text_of(plan(OLD, bare(OLD))).splitlines()[0] == "h1, h2, h3"


def test_a_file_that_nodes_of_a_host_share_is_named_once() -> None:
    scripts = [change for change in plan(OLD, bare(OLD)).changes if change.what == "/opt/kafka/before-start.sh"]
    assert [change.host for change in scripts] == ["h1", "h2", "h3"]


def test_only_kraft_storage_is_formatted_and_only_where_it_is_not() -> None:
    assert not [change for change in plan(OLD, bare(OLD)).changes if change.action is Action.FORMAT]
    seen = altered(running(NEW), "h2", "broker-2", directories={})
    formats = [(c.node, c.what, c.note) for c in plan(NEW, seen).changes if c.action is Action.FORMAT]
    assert formats == [("broker-2", "/var/lib/kafka", f"cluster id {ID}")]


def test_nodes_with_data_do_not_start_as_if_they_were_new() -> None:
    stopped = UnitSeen("inactive", enabled=True)
    seen = running(OLD)
    for one in OLD.nodes:
        seen = altered(seen, one.host.name, one.name, unit=stopped, started_with={}, started_release="")
    found = plan(OLD, seen)
    assert not found.fresh
    assert len(found.starts) == 6
    assert not found.changes


def test_one_running_node_is_enough_for_a_cluster_not_to_be_fresh() -> None:
    seen = altered(bare(OLD) | {"h1": running(OLD)["h1"]}, "h1", "broker-1", directories={})
    assert not plan(OLD, seen).fresh


def test_a_stopped_unit_is_started_and_never_restarted() -> None:
    wanted = changed(OLD, num_replica_fetchers="4")
    seen = altered(running(OLD), "h2", "broker-2", unit=UnitSeen("failed", enabled=True))
    found = plan(wanted, seen)
    assert [start.node for start in found.starts] == ["broker-2"]
    assert "broker-2" not in reasons(found)


def test_a_property_that_kafka_takes_while_it_runs_makes_no_restart() -> None:
    found = plan(changed(OLD, num_io_threads="12"), running(OLD))
    assert not found.restarts
    assert found.settings == tuple(Dynamic(f"broker-{number}", "num.io.threads", "8", "12") for number in (1, 2, 3))
    assert [change.what for change in found.changes] == ["/etc/kafka/server.properties"] * 3
    assert "num.io.threads 8 -> 12 on broker-1, broker-2, broker-3" in text_of(found)


def test_a_property_that_is_read_at_the_start_makes_a_restart_that_names_it() -> None:
    found = plan(changed(OLD, queued_max_requests="600"), running(OLD))
    assert reasons(found)["broker-1"] == "queued.max.requests 500 -> 600"
    assert not found.settings


def test_a_restart_brings_the_dynamic_settings_with_it() -> None:
    found = plan(changed(OLD, queued_max_requests="600", num_io_threads="12"), running(OLD))
    assert reasons(found).keys() == {"broker-1", "broker-2", "broker-3"}
    assert not found.settings


def test_threads_that_grow_beyond_their_double_need_a_restart() -> None:
    found = plan(changed(OLD, num_io_threads="17"), running(OLD))
    assert reasons(found)["broker-2"] == "num.io.threads 8 -> 17"


def test_a_setting_that_was_told_already_is_not_told_again() -> None:
    wanted = changed(OLD, num_io_threads="12")
    seen = running(wanted)
    for one in OLD.brokers:  # the process runs since before the change, and was told
        before = node_seen(OLD, one).started_with
        seen = altered(seen, one.host.name, one.name, started_with=before, overrides={"num.io.threads": "12"})
    assert plan(wanted, seen).nothing


def test_an_override_that_would_outrank_the_file_is_brought_in_line() -> None:
    seen = altered(running(OLD), "h1", "broker-1", overrides={"min.insync.replicas": "1", "log.cleaner.threads": "2"})
    found = plan(OLD, seen)
    assert found.settings == (Dynamic("broker-1", "min.insync.replicas", "1", "2"),)
    assert not found.restarts


def test_an_override_of_what_the_file_decides_is_taken_back() -> None:
    seen = altered(running(OLD), "h1", "broker-1", overrides={"advertised.listeners": "INTERNAL://old:9092"})
    assert plan(OLD, seen).settings == (Dynamic("broker-1", "advertised.listeners", "INTERNAL://old:9092", None),)


def test_min_insync_replicas_is_set_for_the_whole_cluster_at_once() -> None:
    found = plan(changed(OLD, min_insync_replicas="1"), running(OLD))
    assert found.settings == (Dynamic("", "min.insync.replicas", "2", "1"),)
    assert "min.insync.replicas 2 -> 1 on the whole cluster" in text_of(found)


def test_listeners_need_a_restart_though_kafka_calls_them_dynamic() -> None:
    moved = tuple(
        replace(one, listeners=(replace(one.listeners[0], port=9192, advertised_port=9192),)) for one in BROKERS
    )
    found = plan(replace(OLD, brokers=moved), running(OLD))
    assert "listeners INTERNAL://:9092 -> INTERNAL://:9192" in reasons(found)["broker-1"]


def test_a_process_that_was_started_before_the_last_change_is_restarted_though_the_files_are_right() -> None:
    wanted = changed(OLD, queued_max_requests="600")
    seen = altered(running(wanted), "h3", "broker-3", started_with=node_seen(OLD, BROKERS[2]).started_with)
    found = plan(wanted, seen)
    assert not found.changes
    assert reasons(found) == {"broker-3": "queued.max.requests 500 -> 600"}


def test_a_property_that_is_gone_makes_a_restart() -> None:
    found = plan(OLD, running(changed(OLD, queued_max_requests="600")))
    assert reasons(found)["broker-1"] == "queued.max.requests no longer set"


def test_comments_and_blanks_change_the_file_and_restart_nothing() -> None:
    path = paths(BROKERS[0], log4j2=False).config
    seen = running(OLD)
    found = seen["h1"].nodes["broker-1"]
    spelled = f"# by hand\n{found.files[path].text}".replace("num.io.threads=8", "num.io.threads = 8")
    files = {**found.files, path: replace(found.files[path], text=spelled)}
    result = plan(OLD, altered(seen, "h1", "broker-1", files=files, started_with={**found.started_with, path: spelled}))
    assert [change.what for change in result.changes] == [path]
    assert not result.restarts


def test_the_environment_names_what_changes_in_it() -> None:
    found = plan(with_environment(OLD, KAFKA_JMX_OPTS="-Dx=1"), running(OLD))
    assert reasons(found)["broker-1"] == "KAFKA_JMX_OPTS set to -Dx=1"


def test_a_heap_is_a_restart_of_its_kind_only() -> None:
    servers = tuple(replace(server, heap="2g") for server in SERVERS)
    found = plan(replace(OLD, metadata=Ensemble(servers)), running(OLD))
    assert list(reasons(found)) == ["zookeeper-1", "zookeeper-2", "zookeeper-3"]
    assert reasons(found)["zookeeper-1"] == "KAFKA_HEAP_OPTS -Xms1g -Xmx1g -> -Xms2g -Xmx2g"


@pytest.mark.parametrize(
    ("old", "new", "reason"),
    [
        ("LimitNOFILE=200000", "LimitNOFILE=100000", "the unit changes: LimitNOFILE"),
        ("RestartSec=10", "RestartSec=5", None),
        ("Description=Kafka", "Description=Apache Kafka", None),
    ],
)
def test_a_unit_restarts_its_process_only_for_what_the_process_meets(old: str, new: str, reason: str | None) -> None:
    path = paths(BROKERS[0], log4j2=False).unit
    seen = running(OLD)
    found = seen["h1"].nodes["broker-1"]
    before = found.files[path].text.replace(old, new)
    files = {**found.files, path: replace(found.files[path], text=before)}
    result = plan(OLD, altered(seen, "h1", "broker-1", files=files, started_with={**found.started_with, path: before}))
    assert [change.what for change in result.changes] == [path]
    assert reasons(result).get("broker-1") == reason


def test_logging_is_read_at_the_start() -> None:
    path = paths(BROKERS[0], log4j2=False).logging
    found = running(OLD)["h1"].nodes["broker-1"]
    seen = altered(running(OLD), "h1", "broker-1", started_with={**found.started_with, path: "log4j.rootLogger=OFF\n"})
    assert reasons(plan(OLD, seen)) == {"broker-1": "kafka-log4j.properties changes"}


def test_the_leader_of_zookeeper_and_the_controller_go_last_of_their_kind() -> None:
    servers, brokers = (tuple(replace(one, heap="2g") for one in kind) for kind in (SERVERS, BROKERS))
    wanted = replace(OLD, metadata=Ensemble(servers), brokers=brokers)
    found = plan(wanted, running(OLD), Roles(zookeeper_leader="zookeeper-1", controller="broker-2"))
    assert [restart.node for restart in found.restarts] == [
        *("zookeeper-2", "zookeeper-3", "zookeeper-1"),
        *("broker-1", "broker-3", "broker-2"),
    ]
    assert "3. zookeeper-1 on h1 (last, it leads ZooKeeper): KAFKA_HEAP_OPTS" in text_of(found)


def test_with_kraft_the_active_controller_goes_last_of_the_controllers_and_before_the_brokers() -> None:
    controllers, brokers = (tuple(replace(one, heap="2g") for one in kind) for kind in (CONTROLLERS, BROKERS))
    wanted = replace(NEW, metadata=Quorum(controllers, ID), brokers=brokers)
    found = plan(wanted, running(NEW), Roles(controller="controller-3001"))
    assert [restart.node for restart in found.restarts] == [
        *("controller-3002", "controller-3003", "controller-3001"),
        *("broker-1", "broker-2", "broker-3"),
    ]


def test_a_new_patch_is_pushed_and_rolled() -> None:
    found = plan(replace(OLD, release=Release("3.9.2")), running(replace(OLD, release=Release("3.9.1"))))
    assert [(change.action, change.what) for change in found.changes if change.host == "h1"] == [
        (Action.PUSH, "release kafka_2.13-3.9.2"),
        (Action.CHANGE, "current -> kafka_2.13-3.9.2"),
    ]
    assert reasons(found)["zookeeper-1"] == "release kafka_2.13-3.9.1 -> kafka_2.13-3.9.2"
    assert not found.refused


def test_another_line_of_releases_is_refused_on_a_live_cluster() -> None:
    found = plan(replace(NEW, release=Release("4.2.0")), running(replace(NEW, release=Release("4.1.1"))))
    assert len(found.refused) == 6
    assert found.refused[0].what == (
        "controller-3001 on h1 has kafka_2.13-4.1.1, the inventory asks for kafka_2.13-4.2.0"
    )
    assert "newest 4.1.x" in found.refused[0].resolution
    assert found.exit_code is ExitCode.NO


def test_hosts_that_never_served_may_get_another_line() -> None:
    seen = {name: replace(host, current="kafka_2.13-3.8.1") for name, host in bare(OLD).items()}
    assert not plan(OLD, seen).refused


@pytest.mark.parametrize(
    ("cluster", "node", "given", "sentence", "way_out"),
    [
        (OLD, SERVERS[0], {"myid": "3"}, "/var/lib/zookeeper/myid says 3, the inventory says 1", "zookeeper_id: 3"),
        (
            OLD,
            BROKERS[0],
            {"meta": {"version": "0", "broker.id": "9"}},
            "/var/lib/kafka/meta.properties says 9, the inventory says 1",
            "set kafka_broker_id: 9 for h1",
        ),
        (
            NEW,
            CONTROLLERS[0],
            {"meta": {"version": "1", "node.id": "3002", "cluster.id": ID}},
            "/var/lib/kafka-controller/meta.properties says 3002, the inventory says 3001",
            "set kafka_controller_id: 3002 for h1",
        ),
        (
            NEW,
            BROKERS[0],
            {"meta": {"version": "1", "node.id": "1", "cluster.id": OTHER}},
            f"/var/lib/kafka/meta.properties belongs to the cluster {OTHER}, this one is {ID}",
            "another cluster",
        ),
        (
            OLD,
            BROKERS[0],
            {"meta": {"version": "0", "broker.id": "1", "cluster.id": OTHER}},
            f"/var/lib/kafka/meta.properties belongs to the cluster {OTHER}, this one is {ID}",
            "another cluster",
        ),
        (
            OLD,
            BROKERS[0],
            {"meta": {"version": "1", "node.id": "1", "cluster.id": ID}},
            "/var/lib/kafka/meta.properties was written with KRaft, the inventory asks for ZooKeeper",
            "describe the cluster with KRaft",
        ),
    ],
)
def test_a_disk_of_another_node_or_cluster_is_refused(
    cluster: Cluster, node: Node, given: dict[str, Any], sentence: str, way_out: str
) -> None:
    seen = altered(running(cluster), "h1", node.name, directories=disks(cluster, node, **given))
    (refusal,) = plan(cluster, seen).refused
    assert refusal.what == f"{node.name} on h1: {sentence}"
    assert way_out in refusal.resolution


def test_every_refusal_is_told_at_once_and_ends_with_no() -> None:
    seen = running(OLD)
    for one in SERVERS[:2]:
        seen = altered(seen, one.host.name, one.name, directories=disks(OLD, one, myid="7"))
    found = plan(OLD, seen)
    assert len(found.refused) == 2
    assert found.exit_code is ExitCode.NO
    assert "refused: zookeeper-1 on h1" in text_of(found)
    assert "demo: 2 refusals" in text_of(found)


def test_a_changed_file_is_shown_as_a_diff() -> None:
    found = plan(changed(OLD, num_io_threads="12"), running(OLD))
    assert "+num.io.threads=12" in found.changes[0].diff
    assert "      +num.io.threads=12" in text_of(found)


def test_a_secret_never_shows_neither_the_old_nor_the_new() -> None:
    old, new = (changed(OLD, ssl_key_password=word) for word in ("opensesame", "hushhush"))
    found = plan(new, running(old))
    (first, *_) = found.changes
    assert (first.note, first.diff) == ("a secret changes", "")
    assert reasons(found)["broker-1"] == "ssl.key.password (a secret changes)"
    assert not any(word in f"{found.data()}{text_of(found)}" for word in ("opensesame", "hushhush"))


def test_a_secret_in_the_environment_never_shows() -> None:
    old, new = (with_environment(OLD, KAFKA_OPTS=f"-Dkey.password={word} -Dx=1") for word in ("sesame", "hush"))
    found = plan(new, running(old))
    assert reasons(found)["broker-1"] == "KAFKA_OPTS (a secret changes)"
    assert not any(word in f"{found.data()}{text_of(found)}" for word in ("sesame", "hush"))


def test_secrets_of_a_file_written_by_others_do_not_show_in_the_diff() -> None:
    path = paths(BROKERS[0], log4j2=False).config
    foreign = (
        "broker.id: 1\n#ssl.key.password=hush1\nsasl.jaas.config : x \\\n  password=hush2;\nssl.key.password hush3\n"
    )
    files = {path: FileSeen(foreign, "0644", "root", "root")}
    found = plan(OLD, altered(running(OLD), "h1", "broker-1", files=files))
    change = next(change for change in found.changes if change.what == path)
    assert change.note.startswith("root:root 0644 -> root:kafka 0640")
    assert "-broker.id: 1" in change.diff
    assert "hush" not in f"{found.data()}{text_of(found)}"


def test_owners_and_modes_that_drifted_are_put_right() -> None:
    path = paths(BROKERS[0], log4j2=False).config
    found = running(OLD)["h1"].nodes["broker-1"]
    files = {**found.files, path: replace(found.files[path], mode="0644")}
    seen = altered(running(OLD), "h1", "broker-1", files=files, directories=disks(OLD, BROKERS[0], owner="root"))
    changes = [(change.what, change.note) for change in plan(OLD, seen).changes]
    assert changes == [
        ("directory /var/lib/kafka", "owner root -> kafka"),
        (path, "root:kafka 0644 -> root:kafka 0640"),
    ]


def test_a_unit_that_does_not_start_with_its_host_is_enabled() -> None:
    seen = altered(running(OLD), "h2", "zookeeper-2", unit=UnitSeen("active", enabled=False, pid=7))
    (change,) = plan(OLD, seen).changes
    assert (change.host, change.action, change.what) == ("h2", Action.ENABLE, "zookeeper.service")


def test_a_process_that_runs_without_its_configuration_is_restarted() -> None:
    found = running(OLD)["h1"].nodes["broker-1"]
    path = paths(BROKERS[0], log4j2=False).config
    files = {other: file for other, file in found.files.items() if other != path}
    result = plan(OLD, altered(running(OLD), "h1", "broker-1", files=files, started_with={}))
    assert reasons(result) == {"broker-1": f"it was started without {path}"}


def test_only_hosts_that_were_seen_are_planned() -> None:
    found = plan(OLD, {"h2": bare(OLD)["h2"]})
    assert {start.node for start in found.starts} == {"zookeeper-2", "broker-2"}
    assert {change.host for change in found.changes} == {"h2"}
