from __future__ import annotations

import re
from pathlib import Path

import pytest

from kcluster.errors import RefusedError, UsageError
from kcluster.inventory import read
from kcluster.local import shape
from kcluster.local.record import Origin, Record
from kcluster.local.wish import Wish, grant, root


@pytest.fixture(autouse=True)
def home(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setenv("KCLUSTER_HOME", str(tmp_path))
    return tmp_path


def remember(name: str, origin: Origin) -> Record:
    record = Record(root(name), shape.cluster_of(name, origin, "AAAAAAAAAAAAAAAAAAAAAA"), origin)
    record.save()
    return record


def test_without_a_word_it_is_three_and_three_called_local():
    cluster, _, known = grant(Wish(), read)
    assert (cluster.name, len(cluster.metadata.nodes), len(cluster.brokers), known) == ("local", 3, 3, None)


def test_what_is_not_said_stays_as_it_was():
    remember("small", Origin(brokers=1, keepers=1, version="3.9.1"))
    cluster, _, _ = grant(Wish(name="small", brokers=2), read)
    assert (len(cluster.brokers), len(cluster.metadata.nodes), cluster.release.version) == (2, 1, "3.9.1")


def test_a_kraft_cluster_keeps_its_id_and_stays_kraft():
    remember("k", Origin(kraft=True))
    cluster, _, _ = grant(Wish(name="k"), read)
    assert cluster.metadata.cluster_id == "AAAAAAAAAAAAAAAAAAAAAA"


def test_a_new_cluster_id_is_what_kafka_would_make():
    ids = {shape.new_cluster_id() for _ in range(200)}
    assert len(ids) == 200
    assert all(re.fullmatch(r"[A-Za-z0-9_][A-Za-z0-9_-]{21}", cluster_id) for cluster_id in ids)


@pytest.mark.parametrize(
    ("wish", "says"),
    [
        (Wish(kraft=True, zookeepers=3), "there is no ZooKeeper"),
        (Wish(controllers=3), "--controllers belongs to --kraft"),
        (Wish(zookeepers=2), "2 keepers of the metadata tolerate no more failures than 1"),
        (Wish(inventory=Path("inv"), brokers=3), "an inventory says how many nodes"),
        (Wish(version="4.2.0"), "Kafka 4.2.0 has no ZooKeeper mode"),
        (Wish(name="../etc"), "'../etc' cannot be the name of a cluster"),
    ],
)
def test_what_does_not_fit_is_refused(wish, says):
    with pytest.raises(UsageError, match=re.escape(says)):
        grant(wish, read)


def test_the_keeper_of_the_metadata_cannot_be_changed():
    remember("z", Origin())
    with pytest.raises(RefusedError, match="keeps its metadata in ZooKeeper") as refused:
        grant(Wish(name="z", kraft=True), read)
    assert "--delete-data" in refused.value.resolution


def test_a_cluster_made_from_an_inventory_is_changed_there():
    remember("i", Origin(inventory="/somewhere/inv"))
    with pytest.raises(UsageError, match="is made from /somewhere/inv"):
        grant(Wish(name="i", brokers=5), read)


def test_an_inventory_does_not_take_over_another_cluster_of_the_same_name(tmp_path):
    def read(path):
        return shape.cluster_of("same", Origin(brokers=1, keepers=1), "")

    here = tmp_path / "inv"
    remember("same", Origin())
    with pytest.raises(RefusedError, match="the local cluster same is another one, made from options of `kcluster up`"):
        grant(Wish(inventory=here), read)
    other = tmp_path / "other"
    other.mkdir()
    remember("same", Origin(inventory=str(other)))
    with pytest.raises(RefusedError, match=f"made from {other}"):
        grant(Wish(inventory=here), read)
    other.rmdir()
    assert grant(Wish(inventory=here), read)[1].inventory == str(here)
