from __future__ import annotations

import re
from pathlib import Path

import pytest

from kcluster.errors import RefusedError, UsageError
from kcluster.inventory import read
from kcluster.local import topology
from kcluster.local.cluster_record import ClusterRecord, UpOrigin
from kcluster.local.up_request import UpRequest, cluster_dir, requested_cluster


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KCLUSTER_HOME", str(tmp_path))
    return tmp_path


def remember(name: str, origin: UpOrigin) -> ClusterRecord:
    record = ClusterRecord(cluster_dir(name), topology.cluster_of(name, origin, "AAAAAAAAAAAAAAAAAAAAAA"), origin)
    record.save()
    return record


def test_without_a_word_it_is_three_and_three_called_local():
    cluster, _, known = requested_cluster(UpRequest(), read)
    assert (cluster.name, len(cluster.metadata.nodes), len(cluster.brokers), known) == ("local", 3, 3, None)


def test_what_is_not_said_stays_as_it_was():
    remember("small", UpOrigin(brokers=1, keepers=1, version="3.9.1"))
    cluster, _, _ = requested_cluster(UpRequest(name="small", brokers=2), read)
    assert (len(cluster.brokers), len(cluster.metadata.nodes), cluster.release.version) == (2, 1, "3.9.1")


def test_a_kraft_cluster_keeps_its_id_and_stays_kraft():
    remember("k", UpOrigin(kraft=True))
    cluster, _, _ = requested_cluster(UpRequest(name="k"), read)
    assert cluster.metadata.cluster_id == "AAAAAAAAAAAAAAAAAAAAAA"


@pytest.mark.parametrize(
    ("wish", "says"),
    [
        (UpRequest(kraft=True, zookeepers=3), "--zookeepers cannot be used with --kraft"),
        (UpRequest(controllers=3), "--controllers needs --kraft"),
        (UpRequest(zookeepers=2), "--zookeepers must be odd: 1, 3 or 5"),
        (UpRequest(inventory=Path("inv"), brokers=3), "--inventory defines the nodes and the release"),
        (UpRequest(version="4.2.0"), "Kafka 4.2.0 does not support ZooKeeper"),
        (UpRequest(name="../etc"), "'../etc' is not a valid cluster name"),
    ],
)
def test_what_does_not_fit_is_refused(wish, says):
    with pytest.raises(UsageError, match=re.escape(says)):
        requested_cluster(wish, read)


def test_zookeeper_and_kraft_cannot_be_exchanged():
    remember("z", UpOrigin())
    with pytest.raises(RefusedError, match="uses ZooKeeper, which `up` cannot change") as refused:
        requested_cluster(UpRequest(name="z", kraft=True), read)
    assert "--delete-data" in refused.value.resolution


def test_a_cluster_from_an_inventory_is_changed_there():
    remember("i", UpOrigin(inventory="/somewhere/inv"))
    with pytest.raises(UsageError, match="comes from the inventory /somewhere/inv"):
        requested_cluster(UpRequest(name="i", brokers=5), read)


def test_an_inventory_does_not_take_over_another_cluster_of_the_same_name(tmp_path):
    def read(path):
        return topology.cluster_of("same", UpOrigin(brokers=1, keepers=1), "")

    here = tmp_path / "inv"
    remember("same", UpOrigin())
    with pytest.raises(RefusedError, match="the local cluster same exists and comes from options of `kcluster up`"):
        requested_cluster(UpRequest(inventory=here), read)
    other = tmp_path / "other"
    other.mkdir()
    remember("same", UpOrigin(inventory=str(other)))
    with pytest.raises(RefusedError, match=f"comes from {other}"):
        requested_cluster(UpRequest(inventory=here), read)
    other.rmdir()
    assert requested_cluster(UpRequest(inventory=here), read)[1].inventory == str(here)
