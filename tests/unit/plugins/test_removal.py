from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import replace
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kcluster.clients import host_scripts
from kcluster.local import topology
from kcluster.local.cluster_record import UpOrigin
from kcluster.model.cluster import Cluster
from kcluster.model.spark_cluster import SparkCluster, SparkWorker
from kcluster.operations.destroy.survey import DestroyPart, survey_query

OURS = "PbWmCmMSSbSvDeFTl9mVrA"
META = "version=0\nbroker.id={id}\ncluster.id={cluster}\n"


@pytest.fixture
def on_host(monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """The code that runs on hosts; systemd's part only remembers what it was told."""
    module = host_scripts.load("removal")
    monkeypatch.setattr(module, "told", [], raising=False)
    monkeypatch.setattr(module, "systemctl", lambda *words, certain=True: module.told.append(words[0]))
    return module


@pytest.fixture
def cluster(tmp_path: Path) -> Cluster:
    """One broker and one ZooKeeper server on one host, whose files are under the test's folder."""
    made = topology.cluster_of("c", UpOrigin(brokers=1, keepers=1), "")
    places = replace(
        made.brokers[0].places,
        install_dir=f"{tmp_path}/opt",
        config_dir=f"{tmp_path}/etc",
        log_dir=f"{tmp_path}/log",
    )
    host = made.brokers[0].host
    broker = replace(made.brokers[0], places=places, data_dirs=(f"{tmp_path}/data",))
    server = replace(made.metadata.nodes[0], host=host, places=places, data_dir=f"{tmp_path}/zk")
    return replace(made, metadata=replace(made.metadata, servers=(server,)), brokers=(broker,))


Asked = Callable[..., dict[str, Any]]


@pytest.fixture
def asked(cluster: Cluster, tmp_path: Path) -> Asked:
    """The question to the host, with its units under the test's folder."""

    def ask(*parts: DestroyPart, cluster_id: str = OURS, delete_data: bool = True) -> dict[str, Any]:
        told = survey_query(
            cluster, cluster.hosts[0], parts or list(DestroyPart), cluster_id=cluster_id, delete_data=delete_data
        )
        for node in told["nodes"]:
            node["unit_file"] = str(tmp_path / f"{node['unit']}.service")
        told["folders"] = [folder for folder in told["folders"] if folder["path"].startswith(str(tmp_path))]
        return {**told, "sizes": True}

    return ask


def files(root: Path, texts: Mapping[str, str]) -> None:
    for name, text in texts.items():
        (root / name).parent.mkdir(parents=True, exist_ok=True)
        (root / name).write_text(text)


def broker_data(root: Path, *, broker: int = 1, cluster: str = OURS) -> Path:
    files(
        root / "data",
        {
            "meta.properties": META.format(id=broker, cluster=cluster),
            "orders-0/00000000000000000000.log": "record",
            "__consumer_offsets-12/00000000000000000000.index": "",
            "__cluster_metadata-0/quorum-state": "",
            "__cluster_metadata-0/00000000000000000012-0000000001.checkpoint.deleted": "",
            "orders-0/leader-epoch-checkpoint": "",
            "orders-0/partition.metadata": "",
            "orders-1.0123456789abcdef0123456789abcdef-delete/00000000000000000000.log.deleted": "",
            "replication-offset-checkpoint": "0",
            "cleaner-offset-checkpoint.tmp": "0",
            ".kafka_cleanshutdown": "",
            "lost+found/x": "",
        },
    )
    return root / "data"


def left(root: Path) -> list[str]:
    return sorted(path.name for path in root.iterdir())


def test_data_that_is_ours_goes_and_its_directory_stays(on_host, asked, tmp_path):
    data = broker_data(tmp_path)
    files(tmp_path / "zk", {"myid": "1\n", "version-2/log.1": "", "version-2/snapshot.0": ""})
    answer = on_host.remove_all(asked())
    assert answer == {"removed": [f"the data in {tmp_path}/zk", f"the data in {data}"], "refused": []}
    assert (left(data), left(tmp_path / "zk")) == (["lost+found"], [])


def test_data_stays_when_nobody_asks_for_its_end(on_host, asked, tmp_path):
    data = broker_data(tmp_path)
    assert on_host.remove_all(asked(delete_data=False)) == {"removed": [], "refused": []}
    assert "meta.properties" in left(data)


def test_a_run_that_only_asks_changes_nothing(on_host, asked, tmp_path):
    data = broker_data(tmp_path)
    assert on_host.remove_all(asked(), changing=False)["removed"] == [f"the data in {data}"]
    assert "meta.properties" in left(data)


def strange_id(data: Path) -> None:
    files(data, {"meta.properties": META.format(id=7, cluster=OURS)})


def strange_cluster(data: Path) -> None:
    files(data, {"meta.properties": META.format(id=1, cluster="AAAAAAAAAAAAAAAAAAAAAA")})


def no_identity(data: Path) -> None:
    (data / "meta.properties").unlink()


def foreign_file(data: Path) -> None:
    files(data, {"thesis.tex": "years of work"})


def foreign_folder(data: Path) -> None:
    files(data, {"photos/2026.jpg": ""})


def foreign_folder_that_looks_like_a_replica(data: Path) -> None:
    files(data, {"2026-11-18/photo.jpg": ""})


def link_inside(data: Path) -> None:
    files(data.parent / "elsewhere", {"precious": ""})
    (data / "orders-9").symlink_to(data.parent / "elsewhere")


def behind_a_link(data: Path) -> None:
    data.rename(data.parent / "elsewhere")
    data.symlink_to(data.parent / "elsewhere")


@pytest.mark.parametrize(
    ("spoil", "why"),
    [
        (strange_id, "meta.properties says id 7, the inventory 1"),
        (strange_cluster, f"meta.properties belongs to the cluster AAAAAAAAAAAAAAAAAAAAAA, not to {OURS}"),
        (no_identity, "meta.properties has no id of a node or cluster"),
        (foreign_file, "holds what is not the cluster's: thesis.tex"),
        (foreign_folder, "holds what is not the cluster's: photos"),
        (foreign_folder_that_looks_like_a_replica, "holds what is not the cluster's: 2026-11-18"),
        (link_inside, "holds what is not the cluster's: orders-9"),
        (behind_a_link, "is a symbolic link, or lies behind one"),
    ],
)
def test_a_directory_that_is_not_surely_ours_is_left_whole(on_host, asked, tmp_path, spoil, why):
    data = broker_data(tmp_path)
    spoil(data)
    before = sorted(tmp_path.rglob("*"))
    assert on_host.remove_all(asked())["refused"] == [f"{data} {why}"]
    assert sorted(tmp_path.rglob("*")) == before


def test_a_directory_with_a_mount_in_it_is_left_whole(on_host, asked, tmp_path, monkeypatch):
    data = broker_data(tmp_path)
    monkeypatch.setattr(
        on_host, "mounts", lambda: [(point, "ext4") for point in ("/", f"{data}/orders-0", f"{data}-other")]
    )
    assert "something is mounted in it" in on_host.remove_all(asked())["refused"][0]
    assert "orders-0" in left(data)


def test_a_run_that_was_interrupted_can_be_taken_up_again(on_host, asked, tmp_path, monkeypatch):
    data = broker_data(tmp_path)
    removing = on_host.remove

    def dies(path: str) -> None:
        if path.endswith("replication-offset-checkpoint"):
            raise KeyboardInterrupt
        removing(path)

    monkeypatch.setattr(on_host, "remove", dies)
    with pytest.raises(KeyboardInterrupt):
        on_host.remove_all(asked())
    monkeypatch.setattr(on_host, "remove", removing)
    assert on_host.remove_all(asked())["refused"] == []
    assert left(data) == ["lost+found"]


def test_the_log_of_zookeeper_goes_before_the_file_that_says_whose_it_is(on_host, asked, cluster, tmp_path):
    server = replace(cluster.metadata.nodes[0], log_dir=f"{tmp_path}/zklog")
    told = survey_query(
        replace(cluster, metadata=replace(cluster.metadata, servers=(server,))), server.host, [DestroyPart.KEEPERS]
    )
    files(tmp_path / "zk", {"myid": "1\n", "version-2/snapshot.0": ""})
    files(tmp_path / "zklog", {"version-2/log.1": ""})
    removed = on_host.remove_all({**told, "delete_data": True})["removed"]
    assert len(removed) == 2
    assert (left(tmp_path / "zk"), left(tmp_path / "zklog")) == ([], [])


def test_what_is_ours_leaves_the_folders_and_what_is_not_keeps_them(on_host, asked, tmp_path):
    files(tmp_path / "etc", {"server.properties": "", "kafka-log4j2.yaml": "", "kafka.env": "", "tls/our.key": ""})
    files(tmp_path / "opt", {"kafka_2.13-3.9.2/libs/a.jar": "", ".kafka_2.13-4.2.0.partial/x": "", "start-node.sh": ""})
    (tmp_path / "opt/current").symlink_to("kafka_2.13-3.9.2")
    files(
        tmp_path / "log",
        {"server.log": "", "server.log.3": "", "kafka-gc.log.0": "", "zookeeper.log": "", "auth.log": ""},
    )
    on_host.remove_all(asked(DestroyPart.HOST))
    assert (left(tmp_path / "etc"), left(tmp_path / "log")) == (["tls"], ["auth.log"])
    assert not (tmp_path / "opt").exists()
    assert on_host.remove_all(asked(DestroyPart.HOST))["removed"] == []


def test_units_stop_before_they_are_removed_and_another_clusters_unit_ends_it(on_host, asked, tmp_path):
    unit = tmp_path / "kafka.service"
    files(tmp_path, {"kafka.service": "[Unit]\nDescription=Kafka broker 1 of c\n"})
    assert on_host.remove_all(asked(DestroyPart.BROKERS))["removed"] == ["the unit kafka"]
    assert on_host.told == ["stop", "disable", "daemon-reload", "reset-failed"]
    assert not unit.exists()
    files(tmp_path, {"kafka.service": "[Unit]\nDescription=Kafka broker 1 of another\n"})
    with pytest.raises(on_host.HostRefusedError, match="'Kafka broker 1 of another', not 'Kafka broker 1 of c'"):
        on_host.remove_all(asked())
    assert unit.exists()


def test_what_a_node_does_until_its_end_is_seen(on_host, asked, tmp_path, monkeypatch):
    data = broker_data(tmp_path)
    files(tmp_path, {"data/.lock": "", "kafka.service": "[Unit]\nDescription=Kafka broker 1 of c\n"})

    def ends(*words: str, certain: bool = True) -> None:
        if words[0] == "stop":
            (data / ".lock").unlink()
            files(data, {"orders-7/00000000000000000000.log": ""})

    monkeypatch.setattr(on_host, "systemctl", ends)
    on_host.remove_all(asked(DestroyPart.BROKERS))
    assert left(data) == ["lost+found"]


def test_what_executors_left_goes_by_its_names_and_what_else_is_there_keeps_it_all(on_host, cluster, asked, tmp_path):
    work = f"{tmp_path}/work"
    worker = SparkWorker(host=cluster.brokers[0].host, work_dir=work)
    told = survey_query(
        replace(cluster, engine=SparkCluster("c", (), (worker,))), worker.host, [DestroyPart.WORKERS], delete_data=True
    )
    (node,) = told["nodes"]
    node["unit_file"] = f"{tmp_path}/spark-worker.service"
    told["sizes"] = True
    executors = {
        "jobs/app-20261118230102-0003/0/stderr": "",
        "scratch/spark-0b2fbd0e-1c2d-4e5f-8a9b-0123456789ab/executor-1/blockmgr-1/0c/temp": "",
    }
    files(Path(work), {**executors, "jobs/photos/one.jpg": ""})
    answer = on_host.remove_all(told)
    assert answer == {"removed": [], "refused": [f"{work} holds what is not the cluster's: jobs"]}
    assert left(Path(work)) == ["jobs", "scratch"]
    (Path(work) / "jobs/photos/one.jpg").unlink()
    (Path(work) / "jobs/photos").rmdir()
    assert on_host.remove_all(told) == {"removed": [f"the data in {work}"], "refused": []}
    assert left(Path(work)) == []


def test_a_release_behind_a_link_is_counted_once(on_host, tmp_path):
    files(tmp_path / "opt/kafka_2.13-3.9.2", {"libs/kafka.jar": "x" * (1 << 20)})
    (tmp_path / "opt/current").symlink_to("kafka_2.13-3.9.2")
    assert on_host.size(str(tmp_path / "opt/current")) < 1 << 20 <= on_host.size(str(tmp_path / "opt"))
