"""Safe sets on real hosts: six brokers in three racks, asked which may stop together, and restarted rack by rack."""

from __future__ import annotations

import json

from tests.hosts.fleet import SMALL, Fleet, NewFleet
from tests.hosts.under_load import under_load
from tests.lab.machine import wait_until

SIX_IN_RACKS = (
    "all:\n  vars:"
    + SMALL.format(name="six")
    + """
  children:
    zookeeper: {hosts: {h1: {zookeeper_id: 1}}}
    kafka_broker:
      hosts:
        h1: {kafka_broker_id: 1, kafka_rack: a}
        h2: {kafka_broker_id: 2, kafka_rack: b}
        h3: {kafka_broker_id: 3, kafka_rack: c}
        h4: {kafka_broker_id: 4, kafka_rack: a}
        h5: {kafka_broker_id: 5, kafka_rack: b}
        h6: {kafka_broker_id: 6, kafka_rack: c}
"""
)
RACKS = ("broker-1", "broker-4"), ("broker-2", "broker-5"), ("broker-3", "broker-6")
BROKERS = tuple(f"broker-{number}" for number in range(1, 7))


def test_the_brokers_of_a_rack_restart_together_and_a_set_that_does_not_come_back_ends_the_roll(
    running: NewFleet,
) -> None:
    six = running(6, SIX_IN_RACKS)
    with under_load(six, six.bootstrap, "load") as load:
        the_racks_may_stop_each_for_itself(six)
        the_racks_restart_one_after_the_other(six)
        a_member_that_does_not_start_ends_the_roll(six)
    print(f"longest gap {load.gap} s of {load.sent} records")
    load.assert_served()


def the_racks_may_stop_each_for_itself(six: Fleet) -> None:
    """On a busy machine a follower may lag for a moment, and is not in the set then."""

    def safe_set(*names: str) -> list[str]:
        done = six.run("ok-to-stop", *names, "-i", str(six.inventory), "-o", "json", check=False)
        return list(json.loads(done.stdout)["safe_set"])

    wait_until(lambda: safe_set("broker-1") == ["broker-1", "broker-4"], 60, "rack a may stop")
    wait_until(lambda: safe_set("h5", "h2") == ["h2", "h5"], 60, "rack b may stop")
    verdict = json.loads(kcluster(six, "ok-to-stop", *RACKS[0], "broker-2", code=4))
    assert "load-" in str(verdict["reasons"])


def the_racks_restart_one_after_the_other(six: Fleet) -> None:
    """That of the controller is the last; what is restarted together begins within the time of one restart."""
    last = controller(six)
    steps = json.loads(kcluster(six, "restart", *BROKERS, "--at-once", "rack", "--yes"))["steps"]
    print(f"seconds of each set: {[step['seconds'] for step in steps]}")
    racks = sorted((sorted(rack, key=lambda name: name == last) for rack in RACKS), key=lambda rack: last in rack)
    assert [step["node"] for step in steps] == [name for rack in racks for name in rack]
    begun = {step["node"]: started(six, step["node"]) for step in steps}
    together = [
        abs(begun[one] - begun[other]) < step["seconds"] for (one, other), step in zip(racks, steps[::2], strict=True)
    ]
    assert together.count(True) >= 2, f"one waited for the other, and not only where a follower was late: {begun}"


def a_member_that_does_not_start_ends_the_roll(six: Fleet) -> None:
    """Its set is the last one that is stopped; the other member serves on. The controller would be after them."""
    spared = controller(six)
    good, bad = next(rack for rack in RACKS if spared not in rack)
    six.lab.ssh(f"h{bad[-1]}", "echo num.io.threads=many >> /etc/kafka/server.properties")
    before = {name: started(six, name) for name in BROKERS}
    refused = json.loads(kcluster(six, "restart", good, bad, spared, "--at-once", "rack", "--yes", code=5))
    assert f"{bad} on h{bad[-1]} does not start: a setting is refused" in str(refused)
    assert f"{bad}; not touched: {spared}" in str(refused)
    after = {name: started(six, name) for name in BROKERS}
    assert {name for name in BROKERS if after[name] != before[name]} == {good, bad}
    gone = json.loads(kcluster(six, "ok-to-stop", good, code=4))
    texts = {reason["text"]: reason["partitions"] for reason in gone["reasons"]}
    assert any(text.startswith(f"{bad} does not answer") for text in texts)


def controller(six: Fleet) -> str:
    nodes = json.loads(kcluster(six, "status"))["nodes"]
    return str(next(node["node"] for node in nodes if "controller" in node["role"]))


def started(six: Fleet, name: str) -> float:
    """When the broker's process began, in seconds of the one clock that all lab hosts share."""
    ask = "systemctl show kafka --property ExecMainStartTimestampMonotonic --value"
    return int(six.lab.ssh(f"h{name[-1]}", ask)) / 1e6


def kcluster(six: Fleet, *words: str, code: int = 0) -> str:
    """The JSON of a command that ends with this code."""
    done = six.run(*words, "-i", str(six.inventory), "-o", "json", check=False)
    assert done.returncode == code, f"{words} ended with {done.returncode}\n{done.stdout}\n{done.stderr}"
    return done.stdout
