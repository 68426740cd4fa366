"""Choosing nodes, writing folders, explaining lines."""

from __future__ import annotations

from pathlib import Path

import pytest

from kcluster import inventory
from kcluster.app import main
from kcluster.errors import ExitCode, RefusedError, UsageError
from kcluster.model.broker import Broker
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Ensemble, Server
from kcluster.model.host import Host
from kcluster.model.listener import Listener
from kcluster.model.release import Release
from kcluster.operations import render
from kcluster.render import Role


@pytest.fixture(scope="module")
def cluster(project: Path) -> Cluster:
    return inventory.read(project / "tests" / "golden" / "levels-add-up" / "inventory.yml")


def test_hosts_and_nodes_are_chosen_by_name_in_the_order_of_the_cluster(cluster: Cluster) -> None:
    found = render.rendered(cluster, ["broker-2", "zookeeper1"])
    assert list(dict.fromkeys(placed.node for placed in found.files)) == ["zookeeper-1", "broker-2"]


def test_an_unknown_name_is_answered_with_the_nearest(cluster: Cluster) -> None:
    with pytest.raises(UsageError, match="levels has no node or host brokr2") as caught:
        render.rendered(cluster, ["brokr2"])
    assert caught.value.exit_code is ExitCode.USAGE
    assert caught.value.resolution.startswith("did you mean broker2")


def test_a_file_is_shown_under_its_place(cluster: Cluster) -> None:
    lines = [getattr(block, "text", block) for block in render.rendered(cluster, ["zookeeper1"]).view()]
    assert lines[0] == "# --- zookeeper1:/etc/kafka/zookeeper.properties"
    assert "# --- zookeeper1:/var/lib/zookeeper/myid" in lines
    assert lines[lines.index("# --- zookeeper1:/var/lib/zookeeper/myid") + 1] == "1"


def test_only_what_differs_is_written_and_the_rest_is_left_alone(cluster: Cluster, tmp_path: Path) -> None:
    first = render.written(cluster, tmp_path)
    environment = tmp_path / "broker1/etc/kafka/kafka.env"
    environment.write_text("changed")
    (tmp_path / "broker1/etc/kafka/server.properties").unlink()
    own = tmp_path / "notes.txt"
    own.write_text("mine")
    second = render.written(cluster, tmp_path)
    assert (len(first.new), first.changed, first.same) == (16, (), 0)
    assert (len(second.new), second.changed, second.same) == (1, (str(environment),), 14)
    assert own.read_text() == "mine"


def test_a_file_with_a_secret_is_for_its_owner_alone(cluster: Cluster, tmp_path: Path) -> None:
    render.written(cluster, tmp_path, ["broker1"])
    folder = tmp_path / "broker1/etc/kafka"
    modes = {path.name: path.stat().st_mode & 0o777 for path in folder.iterdir()}
    assert modes == {"kafka.env": 0o600, "server.properties": 0o600, "kafka-log4j.properties": 0o644}


def test_a_folder_that_cannot_be_written_is_named(cluster: Cluster, tmp_path: Path) -> None:
    (tmp_path / "broker1").write_text("a file where a folder should be")
    with pytest.raises(RefusedError, match=r"cannot read .*broker1/etc/kafka/server.properties: Not a directory"):
        render.written(cluster, tmp_path, ["broker1"])


def test_each_line_is_explained_and_secrets_stay_hidden(cluster: Cluster) -> None:
    (entry,) = render.explained(cluster, ["broker2"]).data()
    lines = {line["key"]: line for line in entry["lines"]}
    assert entry["path"] == "/etc/kafka/server.properties"
    assert lines["broker.id"]["source"] == "kcluster"
    assert lines["compression.type"]["source"] == "cluster"
    assert lines["num.io.threads"] == {
        "key": "num.io.threads",
        "value": "32",
        "source": "host broker2",
        "why": "The number of threads that the server uses for processing requests, which may include disk I/O",
    }
    assert lines["ssl.key.password"]["value"] == "********"
    text = next(placed.file.text for placed, _ in render.explained(cluster, ["broker2"]).files)
    assert [line["key"] for line in entry["lines"]] == [
        line.partition("=")[0] for line in text.splitlines() if not line.startswith("#")
    ]


def test_a_local_cluster_is_shown_as_up_places_it(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("KCLUSTER_HOME", str(tmp_path))
    here = [Host(f"h{number}", f"h{number}", local=True) for number in (1, 2, 3)]
    wanted = Listener(name="internal", port=9092, advertised_host="localhost", advertised_port=9092)
    brokers = tuple(Broker(host=host, id=number, listeners=(wanted,)) for number, host in enumerate(here, 1))
    placed = render.with_local_layout(Cluster("home", Release(), Ensemble((Server(host=here[0], id=1),)), brokers))
    files = {at.node: at.file for at in render.rendered(placed).files if at.file.role is Role.CONFIG}
    assert files["broker-2"].path == f"{tmp_path}/local/home/nodes/broker-2/etc/server.properties"
    assert len({broker.internal.port for broker in placed.brokers}) == 3
    assert all(broker.internal.bind == f"INTERNAL://127.0.0.1:{broker.internal.port}" for broker in placed.brokers)
    assert Role.UNIT not in {at.file.role for at in render.rendered(placed).files}


def test_a_cluster_on_real_hosts_is_shown_as_it_is(cluster: Cluster) -> None:
    assert render.with_local_layout(cluster) is cluster


def test_an_inventory_that_a_rule_refuses_is_not_rendered(project: Path, capsys: pytest.CaptureFixture[str]) -> None:
    refused = project / "tests" / "inventories" / "replication-factor-above-brokers" / "hosts.yml"
    assert main(["render", "-i", str(refused)]) == ExitCode.INVENTORY
    out, err = capsys.readouterr()
    assert (out, err.partition(":")[0]) == ("", "error")
