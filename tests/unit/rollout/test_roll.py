from __future__ import annotations

import pytest

from kcluster.clients.ssh import CommandResult
from kcluster.errors import ApplyError, KclusterError, LockedError, RefusedError
from kcluster.model.reason import Reason
from kcluster.rollout import order, roll
from kcluster.rollout.diagnosis import StartMark
from kcluster.rollout.snapshot import SafeSet
from tests.unit.fake_hosts import BROKERS, DEAD, RUNNING, SPARKED, TRIO, Hosts, LosingLock, OpenGates

HELD = LosingLock(0)
ALL = {node.name: "num.io.threads 8 -> 12" for node in TRIO.nodes}


def rolled(gates, hosts, reasons=ALL, lock=HELD, at_once=order.ONE_BY_ONE):
    shown: list[str] = []
    notes: list[dict] = []
    try:
        return roll.roll(
            gates, reasons, hosts, shown.append, lambda event, **facts: notes.append(facts), lock, at_once
        ), notes
    finally:
        rolled.shown = shown


def restarted(hosts):
    return [f"{unit}@{host}" for verb, unit, host in hosts.orders if verb == "restart"]


def test_the_metadata_quorum_comes_first_and_leaders_last_of_their_kind():
    hosts = Hosts()
    report, notes = rolled(OpenGates(), hosts)
    names = ["zookeeper-2", "zookeeper-3", "zookeeper-1", "broker-1", "broker-3", "broker-2"]
    assert [step.node for step in report.steps] == names
    assert restarted(hosts)[2:4] == ["zookeeper@h1", "kafka@h1"]
    assert [note["status"] for note in notes] == ["begun", "ok"] * 6
    assert report.steps[0].reason == "num.io.threads 8 -> 12"


def test_the_leader_is_looked_up_before_each_step():
    class Moving(OpenGates):
        def leader(self, kind):
            return next(moves, "")

    moves = iter(["broker-1", "broker-3"])
    hosts = Hosts()
    rolled(Moving(), hosts, {node.name: "" for node in BROKERS})
    assert restarted(hosts) == ["kafka@h2", "kafka@h1", "kafka@h3"]


def test_spark_comes_after_kafka_and_the_leading_master_last_of_the_masters():
    hosts = Hosts()
    reasons = dict.fromkeys(("spark-worker-h2", "spark-master-h1", "spark-master-h2", "broker-1"), "asked for")
    rolled(OpenGates(cluster=SPARKED, leading=("spark-master-h1",)), hosts, reasons)
    assert restarted(hosts) == ["kafka@h1", "spark-master@h2", "spark-master@h1", "spark-worker@h2"]


def test_an_unsafe_roll_is_refused_before_anything_is_stopped():
    hosts = Hosts()
    with pytest.raises(RefusedError) as refused:
        rolled(OpenGates(hopeless=(Reason("no spare replica", ("t-0",), "more copies"),)), hosts)
    harm = "partitions would fall below min.insync.replicas (nothing was stopped)"
    assert refused.value.message == f"rolling restart refused: {harm}"
    assert "t-0" in refused.value.details
    assert refused.value.resolution == "more copies; or accept the risk with --unsafe-partitions"
    assert hosts.orders == []
    rolled(OpenGates(hopeless=(Reason("no copy to spare"),), unsafe_partitions=True), hosts)
    assert len(hosts.orders) == 6


MANY = tuple(f"orders-{number:03}" for number in range(218))


@pytest.mark.parametrize("how", ["hopeless", "closed", "late"])
def test_an_error_about_218_partitions_is_short_for_people_and_complete_for_machines(how):
    reason = Reason("no spare replica", MANY, "more copies", "kcluster topic describe -i INV --at-min-isr")
    gates = {
        "hopeless": lambda: OpenGates(hopeless=(reason,)),
        "closed": lambda: OpenGates(closed={"broker-1": [reason]}),
        "late": lambda: OpenGates(late={"broker-1": [reason]}, timeout=0.0),
    }[how]()
    with pytest.raises(KclusterError) as refused:
        rolled(gates, Hosts())
    first = "no spare replica: orders-000, orders-001, orders-002, orders-003, orders-004 and 213 more"
    whole = "(218; all of them: kcluster topic describe -i INV --at-min-isr, or -o json)"
    assert f"{first} {whole}" in refused.value.details
    assert len(refused.value.message + refused.value.details) < 1000
    assert refused.value.lists == {"no spare replica": MANY}


def test_a_gate_that_stays_closed_ends_the_roll_before_the_stop():
    hosts = Hosts()
    with pytest.raises(RefusedError, match="broker-3 may not stop: too few copies") as refused:
        rolled(OpenGates(closed={"broker-3": [Reason("too few copies", ("t-0",))]}), hosts)
    assert "restarted: zookeeper-2, zookeeper-3, zookeeper-1, broker-1; not touched: broker-2, broker-3" in (
        refused.value.details
    )
    assert "kafka@h3" not in restarted(hosts)


def test_a_process_that_dies_ends_the_roll_with_its_cause(monkeypatch):
    monkeypatch.setattr(roll, "_INSPECT_SECONDS", 0.0)
    log = "ConfigException: Invalid value many for configuration num.io.threads: Not a number of type INT\n"
    hosts = Hosts({("h1", "kafka"): DEAD}, log=log)
    gates = OpenGates(timeout=30.0, late={"broker-1": [Reason("broker-1 does not answer yet")]})
    with pytest.raises(ApplyError, match="broker-1 on h1 does not start: a setting is refused") as stopped:
        rolled(gates, hosts)
    assert "Invalid value many" in stopped.value.details
    assert stopped.value.details.endswith("not touched: broker-2, broker-3")
    assert "kcluster provision" in stopped.value.resolution
    assert restarted(hosts)[-1] == "kafka@h1"


def test_restarts_by_systemd_before_the_roll_do_not_count(monkeypatch):
    monkeypatch.setattr(roll, "_INSPECT_SECONDS", 0.0)
    answers = [[Reason("broker-1 does not answer yet")]] * 3
    hosts = Hosts({("h1", "kafka"): {**RUNNING, "NRestarts": "3"}})
    roll.wait_after_start([StartMark(BROKERS[0])], hosts, lambda _: None, 5.0, lambda: answers.pop() if answers else [])
    assert answers == []


def test_a_transient_cause_is_waited_for(monkeypatch):
    monkeypatch.setattr(roll, "_INSPECT_SECONDS", 0.0)
    hosts = Hosts({("h1", "kafka"): DEAD}, log="KeeperErrorCode = NodeExists\n")

    class Late(OpenGates):
        def after_start(self, node):
            return next(reasons, ())

    reasons = iter([[Reason("not yet")], [Reason("not yet")], []])
    report, _ = rolled(Late(timeout=30.0), hosts, {"broker-1": ""})
    assert [step.node for step in report.steps] == ["broker-1"]


def test_a_node_that_never_catches_up_ends_the_roll():
    hosts = Hosts({("h1", "kafka"): RUNNING})
    with pytest.raises(ApplyError, match="broker-1 on h1 is not back after 0 s: behind: t-0") as stopped:
        rolled(OpenGates(late={"broker-1": [Reason("behind", ("t-0",))]}), hosts)
    assert "unit kafka on h1: active (running)" in stopped.value.details
    assert "restarted and not back: broker-1; not touched: broker-" in stopped.value.details


def test_an_interrupted_roll_lists_what_was_restarted():
    class Interrupted(OpenGates):
        def after_start(self, node):
            if node.name == "zookeeper-3":
                raise KeyboardInterrupt
            return ()

    with pytest.raises(KeyboardInterrupt):
        rolled(Interrupted(), Hosts())
    assert rolled.shown[-1].startswith(
        "interrupted; restarted: zookeeper-2; being restarted: zookeeper-3; not touched: zookeeper-1, broker-1"
    )


def test_a_lost_lock_ends_the_roll_before_the_next_stop():
    hosts = Hosts()
    with pytest.raises(LockedError, match="another kcluster run works on trio"):
        rolled(OpenGates(), hosts, lock=LosingLock(1))
    assert hosts.orders == []


def test_whatever_ends_a_roll_says_what_was_restarted_by_then():
    """Also a host that cannot be reached when its lock is asked, while another node comes back."""
    with pytest.raises(LockedError) as ended:
        rolled(OpenGates(), Hosts(), {"broker-1": "", "broker-3": ""}, LosingLock(2))
    assert ended.value.details == "restarted: broker-1; not touched: broker-3"


def test_the_lock_is_asked_after_the_gate_which_may_stay_closed_for_long():
    asked = []

    class Slow(OpenGates):
        def before_stop(self, nodes):
            asked.append("gate")
            return ()

    class Lock(LosingLock):
        def check(self):
            asked.append("lock")

    rolled(Slow(), Hosts(), {"broker-1": ""}, Lock(0))
    assert asked == ["gate", "lock"]


def test_a_node_whose_host_lost_the_lock_has_its_turn_again():
    class Forgetful(Hosts):
        def ask(self, name, command, **given):
            if self.forgets and "systemctl restart" in given["stdin"]:
                self.forgets = False
                return CommandResult(75, "", "")
            return super().ask(name, command, **given)

    hosts, lock = Forgetful(), LosingLock(0)
    hosts.forgets = True
    report, _ = rolled(OpenGates(), hosts, {"broker-1": ""}, lock)
    assert lock.taken == ["h1"]
    assert [step.node for step in report.steps] == ["broker-1"]
    assert "the lock on h1 was lost before broker-1 was stopped: taking it again" in rolled.shown


PAIRS = order.AtOnce(2)


def test_brokers_that_may_stop_together_restart_together_the_controller_with_the_last():
    hosts = Hosts()
    report, notes = rolled(OpenGates(leading=("broker-3",)), hosts, at_once=PAIRS)
    assert restarted(hosts)[:3] == ["zookeeper@h1", "zookeeper@h2", "zookeeper@h3"]
    assert sorted(restarted(hosts)[3:5]) == ["kafka@h1", "kafka@h2"]
    assert restarted(hosts)[5] == "kafka@h3"
    assert "restarting broker-1, broker-2 on h1, h2 (4 to 5 of 6): num.io.threads 8 -> 12" in rolled.shown
    assert [note["status"] for note in notes][6:] == ["begun", "begun", "ok", "ok", "begun", "ok"]
    assert (len(report.steps), report.together) == (6, 2)
    assert "restarted 6 nodes up to 2 at once" in str(list(report.view())[-1])
    assert rolled(OpenGates(leading=("broker-3",)), Hosts(), at_once=order.AtOnce(None))[0].together == 3
    apart = OpenGates(leading=("broker-3",), apart=({"broker-1", "broker-2"},))
    report, _ = rolled(apart, Hosts(), at_once=order.AtOnce(None))
    assert (report.together, report.steps[-1].node) == (2, "broker-3")


def test_a_set_waits_a_moment_for_one_that_lags_and_then_goes_without_it(monkeypatch):
    reasons = {node.name: "" for node in BROKERS}
    report, _ = rolled(OpenGates(leading=(), timeout=30.0, lagging=("broker-2",) * 2), Hosts(), reasons, at_once=PAIRS)
    assert [step.node for step in report.steps] == ["broker-1", "broker-2", "broker-3"]
    assert "before broker-1 stops: waiting, broker-2 lags, and may stop with the others soon" in rolled.shown
    monkeypatch.setattr(roll, "_JOIN_SECONDS", 0.0)
    report, _ = rolled(OpenGates(leading=(), lagging=("broker-2",) * 2), Hosts(), reasons, at_once=order.AtOnce(None))
    assert [step.node for step in report.steps] == ["broker-1", "broker-3", "broker-2"]


def test_a_member_of_a_set_that_does_not_come_back_ends_the_roll():
    hosts = Hosts()
    gates = OpenGates(leading=("broker-3",), late={"broker-2": [Reason("broker-2 does not answer yet")]})
    with pytest.raises(ApplyError, match="broker-2 on h2 is not back after 0 s") as stopped:
        rolled(gates, hosts, {node.name: "" for node in BROKERS}, at_once=PAIRS)
    state = "restarted: broker-1; restarted and not back: broker-2; not touched: broker-3"
    assert state in stopped.value.details
    assert "kafka@h3" not in restarted(hosts)


def test_a_broker_that_dies_while_another_waits_goes_first():
    class Dying(OpenGates):
        def safe_set(self, turn, most):
            if turn.first.name == "broker-1" and not self.without_process:
                self.without_process = ("broker-3",)
                return SafeSet([turn.first], [], (Reason("broker-3 does not answer"),))
            return super().safe_set(turn, most)

    hosts = Hosts()
    rolled(Dying(leading=()), hosts, {node.name: "" for node in BROKERS})
    assert restarted(hosts)[0] == "kafka@h3"


def test_a_set_whose_host_lost_the_lock_has_its_turn_again():
    class Forgetful(Hosts):
        def ask(self, name, command, **given):
            if self.forgets and name == "h2" and "systemctl restart" in given["stdin"]:
                self.forgets = False
                return CommandResult(75, "", "")
            return super().ask(name, command, **given)

    hosts, lock = Forgetful(), LosingLock(0)
    hosts.forgets = True
    report, _ = rolled(OpenGates(leading=("broker-3",)), hosts, {"broker-1": "", "broker-2": ""}, lock, PAIRS)
    assert lock.taken == ["h2"]
    assert [step.node for step in report.steps] == ["broker-1", "broker-2"]
