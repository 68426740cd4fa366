"""Brokers of a real cluster, through the real CLI."""

import json

from kcluster.clients import wire


def answer(cluster, *args):
    return json.loads(cluster.run(*args, "-n", cluster.name, "-o", "json").stdout)


def test_brokers_are_listed_with_their_controller_release_and_size(live):
    live.run("topic", "create", "spread", "-p", "6", "-r", "3", "-n", live.name)
    listed = answer(live, "broker", "list")
    brokers = listed["brokers"]
    assert [broker["id"] for broker in brokers] == [1, 2, 3]
    assert ",".join(broker["address"] for broker in brokers) == live.bootstrap
    assert sum(broker["controller"] for broker in brokers) == 1
    assert {broker["version"] for broker in brokers} == {"3.9"}
    assert all(broker["partitions"] >= 6 and broker["size_bytes"] is not None for broker in brokers)
    assert listed["cluster_id"]
    assert listed["quorum_leader"] is None


def test_in_kraft_mode_the_quorum_leader_is_the_controller(kraft):
    listed = answer(kraft, "broker", "list")
    assert {broker["controller"] for broker in listed["brokers"]} == {None}
    assert listed["quorum_leader"] >= 3000
    host, _, port = listed["brokers"][0]["address"].rpartition(":")
    quorum = wire.quorum(host, int(port))
    assert quorum.leader == listed["quorum_leader"]
    assert len(quorum.voters) == 3
    assert wire.cluster_id(host, int(port)) == listed["cluster_id"]


def test_the_configuration_of_a_broker_says_where_each_value_comes_from(live):
    shown = {setting["name"]: setting for setting in answer(live, "broker", "config", "1")}
    assert shown["log.dirs"]["source"] == "static"
    assert "default" not in {setting["source"] for setting in shown.values()}
    every = {setting["name"]: setting for setting in answer(live, "broker", "config", "1", "--all")}
    assert len(every) > 200
    assert every["num.recovery.threads.per.data.dir"]["source"] in ("default", "static")
    assert every["ssl.keystore.password"]["value"] == "********"


def test_an_unknown_broker_is_answered_with_those_there_are(live):
    done = live.run("broker", "config", "77", "-n", live.name, check=False)
    assert done.returncode == 2
    assert "there is no broker 77: the brokers are 1, 2 and 3" in done.stderr
