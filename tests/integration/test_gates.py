"""The gates asked of real clusters: what may stop, what must wait, and what no waiting makes safe."""

from __future__ import annotations

import os
import signal
from contextlib import contextmanager

import pytest

from kcluster import local
from kcluster.errors import RefusedError
from kcluster.model.node import Kind
from kcluster.plan import Dynamic
from kcluster.rollout import order, roll, waiting
from kcluster.rollout.dynamic_config import apply_dynamic
from kcluster.rollout.gates import Gates

SAFE = ("-p", "3", "-r", "3", "--config", "min.insync.replicas=2")


@contextmanager
def known(cluster):
    """The record of the cluster, and its nodes by name."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KCLUSTER_HOME", str(cluster.home))
        yield local.record(cluster.name)


def kill(record, name):
    os.kill(record.started[name].process.pid, signal.SIGKILL)


def leader(asking, kind):
    """Who leads; between two leaders there is none for a moment."""
    waiting.wait(lambda: () if asking.leader(kind) else ["none yet"], lambda line: None, within=40, subject="")
    return asking.leader(kind)


def opened(ask, within=40):
    return not waiting.wait(ask, lambda line: None, within=within, subject="")


def closed(ask, *words):
    """Whether the reasons come to name these words."""
    said = waiting.wait(
        lambda: () if all(w in str(ask()) for w in words) else ask() or ["open"], print, within=40, subject=""
    )
    return not said


def test_with_zookeeper_a_missing_broker_and_a_missing_server_close_the_gates_of_the_others(own):
    cluster = own()
    cluster.run("topic", "create", "safe", *SAFE, "-n", cluster.name)
    cluster.run("topic", "create", "single", "-p", "3", "-r", "1", "-n", cluster.name)
    with known(cluster) as record:
        model = record.cluster
        nodes = {node.name: node for node in model.nodes}
        asking, accepting = Gates(model), Gates(model, unsafe_partitions=True)

        # Everything runs: what has a copy to spare may stop, one at a time.
        assert opened(lambda: accepting.before_stop([nodes["broker-1"]]))
        assert "single-" in str(asking.unsafe([nodes["broker-1"]]))
        assert "safe-" not in str(asking.unsafe([nodes["broker-1"]]))
        assert "safe-0" in str(asking.unsafe([nodes["broker-1"], nodes["broker-2"]]))
        with pytest.raises(RefusedError, match="rolling restart refused"):
            roll.refuse_unsafe(asking, [[nodes["broker-1"]]])
        roll.refuse_unsafe(accepting, [[nodes["broker-1"]]])
        cluster.run("topic", "delete", "single", "-n", cluster.name, "--confirm", "single")
        keeper = leader(asking, Kind.ZOOKEEPER)
        assert opened(lambda: asking.before_stop([nodes[keeper]]))
        assert order.next_node(list(model.metadata.nodes), asking.dead, asking.leader).name != keeper
        assert order.next_node(list(model.brokers), asking.dead, asking.leader).name != leader(asking, Kind.BROKER)

        # One broker is gone: it may be restarted, the others may not stop, and it is not back.
        kill(record, "broker-3")
        assert closed(lambda: asking.before_stop([nodes["broker-1"]]), "broker-3 does not answer", "safe-0")
        assert opened(lambda: asking.before_stop([nodes["broker-3"]]))
        assert closed(lambda: asking.after_start(nodes["broker-3"]), "does not answer yet")
        assert order.next_node(list(model.brokers), asking.dead, asking.leader).name == "broker-3"

        # One server is gone: the other two must stay, and brokers still have a leader to come back to.
        gone = next(server.name for server in model.metadata.nodes if server.name != keeper)
        kill(record, gone)
        other = next(server for server in model.metadata.nodes if server.name not in (keeper, gone))
        assert closed(lambda: asking.before_stop([other]), gone, "does not serve")
        assert opened(lambda: asking.before_stop([nodes[gone]]))
        with pytest.raises(RefusedError, match=f"{other.name} may not stop") as refused:
            roll.wait_before_stop(Gates(model, timeout=0.5), [other], print, state="nothing was stopped")
        assert "nothing was stopped" in refused.value.details

        cluster.run("up", "--name", cluster.name)
        assert all(opened(lambda node=node: asking.after_start(node)) for node in model.nodes)
        assert opened(lambda: asking.before_stop([nodes["broker-1"]]))


def test_with_kraft_the_quorum_keeps_its_majority_and_brokers_their_copies(own):
    cluster = own("--kraft")
    cluster.run("topic", "create", "safe", *SAFE, "-n", cluster.name)
    with known(cluster) as record:
        model = record.cluster
        nodes = {node.name: node for node in model.nodes}
        asking = Gates(model)
        active = leader(asking, Kind.CONTROLLER)
        first, second = (node for node in model.metadata.nodes if node.name != active)
        assert asking.leader(Kind.BROKER) == ""
        assert all(opened(lambda node=node: asking.before_stop([node])) for node in model.nodes)
        assert "no majority" in str(asking.unsafe([first, second]))
        assert order.next_node(list(model.nodes), asking.dead, asking.leader) == first

        kill(record, first.name)
        assert closed(lambda: asking.before_stop([second]), f"{first.name} is behind controller-")
        assert closed(lambda: asking.after_start(first), f"{first.name} is behind controller-")
        assert opened(lambda: asking.before_stop([first]))
        assert opened(lambda: asking.before_stop([nodes["broker-2"]]))

        # The active one goes too: nobody leads, so that no broker could come back.
        kill(record, leader(asking, Kind.CONTROLLER))
        assert closed(lambda: asking.before_stop([nodes["broker-2"]]), "no controller leads")
        cluster.run("up", "--name", cluster.name)
        assert all(opened(lambda node=node: asking.after_start(node)) for node in model.nodes)


def test_a_setting_is_told_to_running_brokers_and_taken_back(live):
    with known(live) as record:
        model = record.cluster
        told = [Dynamic("broker-1", "num.io.threads", "8", "9"), Dynamic("", "min.insync.replicas", "1", "2")]
        apply_dynamic(model, told, print)
        shown = live.run("broker", "config", "1", "-n", live.name).stdout
        assert "num.io.threads" in shown
        assert "dynamic broker" in shown
        assert "dynamic default" in live.run("broker", "config", "2", "-n", live.name).stdout
        apply_dynamic(
            model, [Dynamic(told[0].node, told[0].key, "9", None), Dynamic("", told[1].key, "2", None)], print
        )
        assert "dynamic" not in live.run("broker", "config", "1", "-n", live.name).stdout
        with pytest.raises(RefusedError, match="Invalid value"):
            apply_dynamic(model, [Dynamic("", "min.insync.replicas", "1", "many")], print)
