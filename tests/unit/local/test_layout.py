from __future__ import annotations

from pathlib import Path

from kcluster.local import topology
from kcluster.local.cluster_record import UpOrigin
from kcluster.local.layout import Placement, choose_ports, configured_ports, place, ports_of

SMALL = topology.cluster_of("small", UpOrigin(brokers=2, keepers=1), "")
KRAFT = topology.cluster_of("kraft", UpOrigin(brokers=1, keepers=3, kraft=True), "AAAAAAAAAAAAAAAAAAAAAA")


def placed(cluster, root: Path = Path("/home/of/it")):
    return place(cluster, Placement(root, choose_ports(configured_ports(cluster), {}, lambda port: True)))


def test_every_purpose_gets_a_port_of_its_own():
    chosen = choose_ports(configured_ports(SMALL), {}, lambda port: True)
    assert chosen == {
        "broker-1 internal": 9092,
        "broker-2 internal": 9093,
        "zookeeper-1 client": 2181,
        "zookeeper-1 peer": 2888,
        "zookeeper-1 election": 3888,
    }


def test_a_port_that_is_not_free_is_passed_over():
    assert choose_ports({"a": 9092, "b": 9092}, {}, lambda port: port != 9093) == {"a": 9092, "b": 9094}


def test_a_remembered_port_is_kept_even_when_it_is_not_free_now():
    assert choose_ports({"a": 9092, "b": 9092}, {"a": 9100}, lambda port: port != 9100) == {"a": 9100, "b": 9092}


def test_a_port_remembered_for_a_node_that_is_away_is_not_given_to_another():
    assert choose_ports({"b": 9092}, {"a": 9092}, lambda port: True) == {"b": 9093}


def test_every_node_is_reached_at_127_0_0_1_on_its_own_ports():
    cluster = placed(SMALL)
    assert cluster.bootstrap == "127.0.0.1:9092,127.0.0.1:9093"
    assert cluster.metadata.connect == "127.0.0.1:2181"
    assert all(node.host.address == "127.0.0.1" for node in cluster.nodes)
    assert placed(KRAFT).metadata.voters == "3000@127.0.0.1:9093,3001@127.0.0.1:9094,3002@127.0.0.1:9095"


def test_hosts_keep_the_names_people_gave_them():
    assert [host.name for host in placed(SMALL).hosts] == ["zookeeper1", "broker1", "broker2"]


def test_every_directory_lies_in_the_node_s_folder():
    for node in placed(SMALL).nodes:
        home = f"/home/of/it/nodes/{node.name}"
        data = node.data_dirs[0] if node.kind == "broker" else node.data_dir
        assert (node.places.config_dir, data, node.places.log_dir) == (f"{home}/etc", f"{home}/data", f"{home}/logs")


def test_several_data_directories_stay_several():
    from dataclasses import replace

    broker = replace(SMALL.brokers[0], data_dirs=("/disk1", "/disk2"))
    assert placed(replace(SMALL, brokers=(broker,))).brokers[0].data_dirs == (
        "/home/of/it/nodes/broker-1/data-1",
        "/home/of/it/nodes/broker-1/data-2",
    )


def test_the_heap_is_small_unless_people_say_otherwise():
    from dataclasses import replace

    big = replace(SMALL, brokers=(replace(SMALL.brokers[0], heap="2g"),))
    assert {node.heap for node in placed(SMALL).nodes} == {"256m"}
    assert placed(big).brokers[0].heap == "2g"


def test_what_people_set_wins_over_what_is_set_for_one_machine():
    from dataclasses import replace

    from kcluster.model.node import Layer

    key = "zookeeper.session.timeout.ms"
    own = replace(SMALL.brokers[0], layers=(Layer("cluster", {key: "6000"}),))
    assert placed(SMALL).brokers[0].set_by_hand()[key] == "10000"
    assert placed(replace(SMALL, brokers=(own,))).brokers[0].set_by_hand()[key] == "6000"
    assert placed(KRAFT).brokers[0].set_by_hand() == {"group.initial.rebalance.delay.ms": "0"}


def test_placing_a_placed_cluster_again_changes_nothing():
    once = placed(SMALL)
    ports = {f"{node.name} {purpose}": port for node in once.nodes for purpose, port in ports_of(node)}
    from dataclasses import replace

    again = place(once, Placement(Path("/home/of/it"), ports))
    assert replace(again, brokers=()) == replace(once, brokers=())
