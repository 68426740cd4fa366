from __future__ import annotations

import re
from pathlib import Path

import pytest

from kcluster.errors import RefusedError, UsageError
from kcluster.inventory import read
from kcluster.local import topology
from kcluster.local.cluster_record import ClusterRecord, UpOrigin
from kcluster.local.up_request import UpRequest, cluster_dir, grant


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KCLUSTER_HOME", str(tmp_path))
    return tmp_path


def remember(name: str, origin: UpOrigin) -> ClusterRecord:
    record = ClusterRecord(cluster_dir(name), topology.cluster_of(name, origin, "AAAAAAAAAAAAAAAAAAAAAA"), origin)
    record.save()
    return record


def test_without_a_word_it_is_three_and_three_called_local():
    cluster, _, known = grant(UpRequest(), read)
    assert (cluster.name, len(cluster.metadata.nodes), len(cluster.brokers), known) == ("local", 3, 3, None)


def test_what_is_not_said_stays_as_it_was():
    remember("small", UpOrigin(brokers=1, keepers=1, version="3.9.1"))
    cluster, _, _ = grant(UpRequest(name="small", brokers=2), read)
    assert (len(cluster.brokers), len(cluster.metadata.nodes), cluster.release.version) == (2, 1, "3.9.1")


def test_a_kraft_cluster_keeps_its_id_and_stays_kraft():
    remember("k", UpOrigin(kraft=True))
    cluster, _, _ = grant(UpRequest(name="k"), read)
    assert cluster.metadata.cluster_id == "AAAAAAAAAAAAAAAAAAAAAA"


@pytest.mark.parametrize(
    ("wish", "says"),
    [
        (UpRequest(kraft=True, zookeepers=3), "there is no ZooKeeper"),
        (UpRequest(controllers=3), "--controllers belongs to --kraft"),
        (UpRequest(zookeepers=2), "2 keepers of the metadata tolerate no more failures than 1"),
        (UpRequest(inventory=Path("inv"), brokers=3), "an inventory says how many nodes"),
        (UpRequest(version="4.2.0"), "Kafka 4.2.0 has no ZooKeeper mode"),
        (UpRequest(name="../etc"), "'../etc' cannot be the name of a cluster"),
    ],
)
def test_what_does_not_fit_is_refused(wish, says):
    with pytest.raises(UsageError, match=re.escape(says)):
        grant(wish, read)


def test_the_keeper_of_the_metadata_cannot_be_changed():
    remember("z", UpOrigin())
    with pytest.raises(RefusedError, match="keeps its metadata in ZooKeeper") as refused:
        grant(UpRequest(name="z", kraft=True), read)
    assert "--delete-data" in refused.value.resolution


def test_a_cluster_made_from_an_inventory_is_changed_there():
    remember("i", UpOrigin(inventory="/somewhere/inv"))
    with pytest.raises(UsageError, match="is made from /somewhere/inv"):
        grant(UpRequest(name="i", brokers=5), read)


def test_an_inventory_does_not_take_over_another_cluster_of_the_same_name(tmp_path):
    def read(path):
        return topology.cluster_of("same", UpOrigin(brokers=1, keepers=1), "")

    here = tmp_path / "inv"
    remember("same", UpOrigin())
    with pytest.raises(RefusedError, match="the local cluster same is another one, made from options of `kcluster up`"):
        grant(UpRequest(inventory=here), read)
    other = tmp_path / "other"
    other.mkdir()
    remember("same", UpOrigin(inventory=str(other)))
    with pytest.raises(RefusedError, match=f"made from {other}"):
        grant(UpRequest(inventory=here), read)
    other.rmdir()
    assert grant(UpRequest(inventory=here), read)[1].inventory == str(here)
