"""Which value wins, and what is told of where it came from."""

from __future__ import annotations

from collections.abc import Mapping

from kcluster.config import properties
from kcluster.config.setting import Setting
from kcluster.model.broker import Broker
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Ensemble, Server
from kcluster.model.host import Host
from kcluster.model.listener import Listener
from kcluster.model.node import Layer, Node
from kcluster.model.quorum import Controller, Quorum
from kcluster.model.release import Release

SERVERS = Ensemble(tuple(Server(host=Host(f"z{n}", f"10.0.0.{n}"), id=n) for n in (1, 2, 3)), "/demo")
CONTROLLERS = Quorum((Controller(host=Host("c1", "10.0.1.1"), id=3001),), "4L6g3nShT-eMCtK--X86sw")


def broker(number: int, *layers: tuple[str, Mapping[str, str]]) -> Broker:
    address = f"10.0.2.{number}"
    return Broker(
        host=Host(f"b{number}", address),
        id=number,
        listeners=(Listener(name="internal", port=9092, advertised_host=address, advertised_port=9092),),
        layers=tuple(Layer(source, properties) for source, properties in layers),
    )


def cluster(*brokers: Broker, metadata: Ensemble | Quorum = SERVERS, version: str = "3.9.2") -> Cluster:
    return Cluster("demo", Release(version), metadata, brokers)


def settings(whole: Cluster, node: Node) -> dict[str, Setting]:
    found = properties.settings(whole, node)
    assert len({setting.key for setting in found}) == len(found)
    return {setting.key: setting for setting in found}


def test_host_wins_over_group_over_cluster_over_default_key_by_key() -> None:
    one = broker(
        1,
        ("cluster", {"log.retention.hours": "1", "num.io.threads": "1", "compression.type": "zstd"}),
        ("group kafka_broker", {"log.retention.hours": "2", "num.io.threads": "2"}),
        ("host b1", {"log.retention.hours": "3"}),
    )
    found = settings(cluster(one), one)
    assert found["log.retention.hours"] == Setting("log.retention.hours", "3", "host b1")
    assert found["num.io.threads"] == Setting("num.io.threads", "2", "group kafka_broker")
    assert found["compression.type"] == Setting("compression.type", "zstd", "cluster")
    assert found["controlled.shutdown.enable"].source == "default"
    assert found["controlled.shutdown.enable"].why


def test_a_property_kcluster_has_never_heard_of_is_kept() -> None:
    one = broker(1, ("cluster", {"my.plugin.colour": "green"}))
    assert settings(cluster(one), one)["my.plugin.colour"].value == "green"


def test_an_owned_property_is_written_by_the_model_whatever_people_set() -> None:
    one = broker(1, ("host b1", {"broker.id": "7", "process.roles": "broker", "advertised.listeners": "X://x:1"}))
    found = settings(cluster(one), one)
    assert (found["broker.id"].value, found["broker.id"].source) == ("1", "kcluster")
    assert found["advertised.listeners"].value == "INTERNAL://10.0.2.1:9092"
    assert "process.roles" not in found


def test_replication_follows_the_number_of_brokers_and_says_so() -> None:
    def of(count: int) -> tuple[str, str, str]:
        brokers = [broker(number) for number in range(1, count + 1)]
        found = settings(cluster(*brokers), brokers[0])
        copies = found["default.replication.factor"]
        assert found["offsets.topic.replication.factor"].value == copies.value
        return copies.value, found["min.insync.replicas"].value, copies.why.partition(" unless ")[0]

    assert of(1) == ("1", "1", "1 replica (the cluster has 1 broker)")
    assert of(2) == ("2", "1", "2 replicas (the cluster has 2 brokers)")
    assert of(3) == ("3", "2", "3 replicas")
    assert of(30) == ("3", "2", "3 replicas")


def test_zookeeper_mode_and_kraft_mode_name_the_keepers_of_the_metadata_differently() -> None:
    one = broker(1)
    old = settings(cluster(one), one)
    new = settings(cluster(one, metadata=CONTROLLERS, version="4.2.0"), one)
    assert old["zookeeper.connect"].value == "10.0.0.1:2181,10.0.0.2:2181,10.0.0.3:2181/demo"
    assert not {"node.id", "controller.quorum.voters"} & set(old)
    assert new["controller.quorum.voters"].value == "3001@10.0.1.1:9093"
    assert (new["node.id"].value, new["process.roles"].value) == ("1", "broker")
    assert new["listener.security.protocol.map"].value == "INTERNAL:PLAINTEXT,CONTROLLER:PLAINTEXT"
    assert not [key for key in new if key.startswith(("zookeeper.", "broker.id"))]


def test_share_groups_have_their_copies_from_4_0_on() -> None:
    def asked(version: str) -> bool:
        one = broker(1)
        found = settings(cluster(one, metadata=CONTROLLERS, version=version), one)
        return "share.coordinator.state.topic.replication.factor" in found

    assert [asked(version) for version in ("3.9.2", "4.1.1", "4.2.0")] == [False, True, True]


def test_controllers_know_what_the_brokers_agree_on_and_their_own_settings_win() -> None:
    group = ("group kafka_broker", {"min.insync.replicas": "1", "num.partitions": "12", "num.io.threads": "16"})
    brokers = broker(1, group), broker(2, group, ("host b2", {"num.partitions": "24"}))
    controller = CONTROLLERS.controllers[0]
    found = settings(cluster(*brokers, metadata=CONTROLLERS, version="4.2.0"), controller)
    assert found["min.insync.replicas"] == Setting("min.insync.replicas", "1", "group kafka_broker")
    assert found["num.partitions"].source == "default"
    assert "num.io.threads" not in found

    own = Controller(host=Host("c1", "c1"), id=3001, layers=(Layer("host c1", {"min.insync.replicas": "2"}),))
    found = settings(cluster(*brokers, metadata=Quorum((own,), "id"), version="4.2.0"), own)
    assert found["min.insync.replicas"] == Setting("min.insync.replicas", "2", "host c1")


def test_every_server_of_an_ensemble_reads_the_same_members() -> None:
    whole = cluster(broker(1))
    found = [settings(whole, server) for server in SERVERS.servers]
    lists = [{key: s.value for key, s in one.items() if key.startswith("server.")} for one in found]
    assert lists[0] == lists[1] == lists[2]
    assert lists[0]["server.3"] == "10.0.0.3:2888:3888"


def test_a_cluster_on_this_machine_does_not_listen_to_the_network() -> None:
    here = Host("z1", "127.0.0.1", local=True)
    server, controller = Server(host=here, id=1), Controller(host=here, id=3001)
    zookeeper = settings(cluster(broker(1), metadata=Ensemble((server,))), server)
    kraft = settings(cluster(broker(1), metadata=Quorum((controller,), "id")), controller)
    assert zookeeper["clientPortAddress"].value == "127.0.0.1"
    assert kraft["listeners"].value == "CONTROLLER://127.0.0.1:9093"
    assert "clientPortAddress" not in settings(cluster(broker(1)), SERVERS.servers[0])
