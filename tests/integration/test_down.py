"""`kcluster down` with real processes."""

from __future__ import annotations

import json

from tests.children import child

SMALL = ("--brokers", "1", "--zookeepers", "1")


def test_data_survives_and_only_a_typed_name_deletes_it(own):
    cluster = own(*SMALL)
    cluster.run("topic", "create", "kept", "--partitions", "1", "--replication-factor", "1", "-n", "own")
    cluster.run("produce", "kept", "-n", "own", input="one\n")
    cluster.run("down", "-n", "own")
    again = cluster.run("down", "-n", "own")
    assert again.returncode == 0
    assert "own was not running" in again.stdout
    cluster.run("up", "-n", "own")
    assert cluster.run("consume", "kept", "--from-beginning", "-n", "own", "--count", "1").stdout.strip() == "one"

    refused = cluster.run("down", "-n", "own", "--delete-data", check=False)
    assert refused.returncode == 2
    assert "--confirm own" in refused.stderr
    wrong = cluster.run("down", "-n", "own", "--delete-data", "--confirm", "other", check=False)
    assert wrong.returncode == 4
    assert (cluster.home / "local/own/record.json").is_file()

    cluster.run("down", "-n", "own", "--delete-data", "--confirm", "own")
    assert not (cluster.home / "local/own").exists()


def test_a_process_that_got_the_pid_of_a_node_is_left_alone(own):
    cluster = own(*SMALL)
    cluster.run("down", "-n", "own")
    record = cluster.home / "local/own/record.json"
    with child(["sleep", "60"]) as bystander:
        entry = {"process": {"pid": bystander.pid, "started": 1}, "digest": "", "archive": ""}
        record.write_text(json.dumps(json.loads(record.read_text()) | {"started": {"broker-1": entry}}))
        assert "own was not running" in cluster.run("down", "-n", "own").stdout
        assert bystander.poll() is None
        bystander.kill()


def test_an_unknown_name_gets_the_nearest_ones(live):
    done = live.run("down", "-n", "lve", check=False)
    assert done.returncode == 2
    assert "there is no local cluster lve; there is live" in done.stderr
