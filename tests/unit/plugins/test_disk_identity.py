"""What kcluster.kafka.node refuses: units and disks of others, disks that are not mounted, foreign data."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

NewNode = Callable[..., dict[str, Any]]
Meta = Callable[..., None]
CLUSTER_ID = "PbWmCmMSSbSvDeFTl9mVrA"


def test_data_of_the_same_node_and_empty_disks_are_welcome(
    disks: ModuleType, tmp_path: Path, node: NewNode, meta: Meta
) -> None:
    assert disks.refusal(node()) == ""
    (tmp_path / "data" / "lost+found").mkdir(parents=True)
    assert disks.refusal(node(user="kafka")) == ""
    meta(version=0, broker_id=1, cluster_id="any")
    assert disks.refusal(node(user="kafka")) == ""
    meta(version=1, node_id=1, cluster_id=CLUSTER_ID)
    assert disks.refusal(node(cluster_id=CLUSTER_ID)) == ""


def test_data_of_another_node_is_refused_with_both_ids(
    disks: ModuleType, tmp_path: Path, node: NewNode, meta: Meta
) -> None:
    meta(version=0, broker_id=2)
    assert disks.refusal(node()).startswith(
        f"{tmp_path}/data/meta.properties belongs to the node 2, but the inventory says kafka_broker_id: 1; correct"
    )
    (tmp_path / "data" / "myid").write_text("9\n")
    server = node(kind="zookeeper")
    assert disks.refusal(server).startswith(f"{tmp_path}/data/myid says 9, but the inventory says zookeeper_id: 1;")
    (tmp_path / "data" / "myid").write_text("1")
    assert disks.refusal(server) == ""


def test_data_of_another_cluster_is_refused(disks: ModuleType, tmp_path: Path, node: NewNode, meta: Meta) -> None:
    meta(version=1, node_id=1, cluster_id="other")
    assert "belongs to the cluster other" in disks.refusal(node(cluster_id=CLUSTER_ID))


def test_a_unit_of_another_cluster_is_refused_with_both_names(
    plugin: Callable[[str], ModuleType], tmp_path: Path, node: NewNode
) -> None:
    owners = plugin("module_utils.unit_owner")
    unit = tmp_path / "kafka.service"
    assert owners.other_cluster(node()["whose"]) == ""
    unit.write_text("[Unit]\nDescription=Kafka broker 1 of staging\n")
    assert owners.other_cluster(node()["whose"]) == (
        f"{unit} belongs to the cluster staging, but the inventory says kcluster_name: demo; is this the right host? "
        "If staging is only the older name of the same cluster, write kcluster_name: staging again"
    )
    for ours in ("Kafka broker 7 of demo", "Apache Kafka of somebody"):
        unit.write_text(f"[Unit]\nDescription={ours}\n")
        assert owners.other_cluster(node()["whose"]) == ""


def test_foreign_data_is_refused_and_named(
    disks: ModuleType, tmp_path: Path, own: dict[str, str], node: NewNode
) -> None:
    (tmp_path / "data").mkdir()
    (tmp_path / "data" / "photos").mkdir()
    assert f"{tmp_path}/data belongs to {own['owner']} and holds photos" in disks.refusal(node(user="kafka"))
    assert disks.refusal(node()) == ""  # what belongs to the service is its own affair
    (tmp_path / "data" / "events-0").mkdir()
    assert disks.refusal(node(user="kafka")) == ""


def test_a_kraft_node_finds_its_metadata_in_its_first_directory(
    disks: ModuleType, tmp_path: Path, node: NewNode, meta: Meta
) -> None:
    meta(node_id=1)
    (tmp_path / "data" / "__cluster_metadata-0").mkdir()
    kept, fresh = str(tmp_path / "data"), str(tmp_path / "fresh")
    assert disks.refusal(node(format=True, data_dirs=[kept, fresh])) == ""
    assert disks.refusal(node(format=True, data_dirs=[fresh, kept])).startswith(
        f"{kept} holds the cluster's metadata, and Kafka looks for it in the first directory, {fresh}; write {kept}"
    )


def test_a_directory_that_holds_anything_is_never_formatted(disks: ModuleType, tmp_path: Path, node: NewNode) -> None:
    (tmp_path / "data" / "lost+found").mkdir(parents=True)
    (tmp_path / "data" / "bootstrap.checkpoint").write_text("")  # a format was interrupted
    assert disks.refusal(node(format=True)) == ""
    (tmp_path / "data" / "events-0").mkdir()
    assert f"{tmp_path}/data holds data but no meta.properties" in disks.refusal(node(format=True))
    assert disks.refusal(node()) == ""  # with ZooKeeper a broker writes the file itself


def test_a_spark_worker_takes_no_directory_of_kafka(
    disks: ModuleType, tmp_path: Path, own: dict[str, str], node: NewNode, meta: Meta
) -> None:
    worker = node(kind="spark-worker", id=0, user="spark")
    (tmp_path / "data" / "jobs").mkdir(parents=True)
    (tmp_path / "data" / "scratch").mkdir()
    assert disks.refusal(worker) == ""  # of a worker that ran under another account
    (tmp_path / "data" / "jobs").rmdir()
    (tmp_path / "data" / "scratch").rmdir()
    meta(version=0, broker_id=0, cluster_id="any")
    assert disks.refusal(worker) == (
        f"{tmp_path}/data belongs to {own['owner']} and holds meta.properties, which is not for spark; "
        "empty it, or write another directory into the inventory"
    )


@pytest.mark.parametrize("promise", ["fstab", "unit"])
def test_a_disk_that_should_be_mounted_and_is_not_is_refused(
    disks: ModuleType, tmp_path: Path, promise: str, node: NewNode
) -> None:
    system, disk = tmp_path / "system", tmp_path / "a disk"
    if promise == "fstab":
        (system / "etc/fstab").write_text(
            f"# disks\n/dev/sdb1 {str(disk).replace(' ', chr(92) + '040')} ext4 defaults 0 2\n"
        )
    else:
        (system / "etc/systemd/system/disk.mount").write_text(f"[Mount]\nWhat=/dev/sdb1\nWhere={disk}\n")
    wanted = node(data_dirs=[f"{disk}/kafka"])
    assert f"which is not mounted; mount it: mount {disk}" in disks.refusal(wanted)
    point = str(disk).replace(" ", "\\040")
    (system / "proc/self/mountinfo").write_text(f"29 1 8:17 / {point} rw - ext4 /dev/sdb1 rw\n")
    assert disks.refusal(wanted) == ""
    assert disks.refusal(node(data_dirs=[f"{disk}s/kafka"])) == ""  # another directory that begins alike
