from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from types import ModuleType, SimpleNamespace
from typing import Any

import pytest

from kcluster.model.client import Client
from kcluster.model.reason import Reason
from tests.unit.fake_hosts import BROKERS, RUNNING, TRIO, Hosts, OpenGates


@pytest.fixture
def gate(plugin: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch) -> Callable[..., Any]:
    """Run the action for a host: `gate("h1", gates, part="brokers", moment="before")`."""
    module = plugin("action.gate")
    monkeypatch.setattr(module.reading, "cluster", lambda task_vars: TRIO)

    def run(host: str, gates: OpenGates, description: str = "", **args: Any) -> Any:
        task = SimpleNamespace(args=args, check_mode=False, async_val=0, diff=False, _uuid="1", action="gate")
        context = SimpleNamespace(check_mode=False, diff=False)
        shell = SimpleNamespace(_shell=SimpleNamespace(tmpdir="there"))
        action = module.ActionModule(task, shell, context, None, None, None)
        monkeypatch.setattr(action, "_gates", lambda found, hosts: gates)

        def answer(command: str, in_data: bytes) -> dict[str, Any]:
            if b"systemctl show" not in in_data:
                return {"rc": 0, "stdout": "--- kcluster ---\n1700000000\n120\n", "stderr": ""}
            units = {(host, "kafka"): {**RUNNING, "Description": description}}
            told = Hosts(units).ask(host, command, stdin=in_data.decode())
            return {"rc": told.code, "stdout": told.stdout, "stderr": told.stderr}

        monkeypatch.setattr(action, "_low_level_execute_command", answer)
        return action.run(task_vars={"inventory_hostname": host})

    return run


def test_before_a_stop_it_says_whether_the_node_leads_and_where_its_start_will_begin(gate: Callable[..., Any]) -> None:
    told = gate("h2", OpenGates(), part="brokers", moment="before")
    assert told == {
        "changed": False,
        "node": "broker-2",
        "unit": "kafka",
        "leads": True,
        "began": {"since": 1700000000, "log_size": 120},
    }
    assert not gate("h1", OpenGates(), part="brokers", moment="before")["leads"]
    assert gate("h1", OpenGates(), part="keepers", moment="before")["unit"] == "zookeeper"
    assert gate("h9", OpenGates(), part="keepers", moment="before")["node"] == ""


def test_a_closed_gate_fails_the_task_with_its_reason(gate: Callable[..., Any]) -> None:
    from ansible.errors import AnsibleActionFail

    closed = OpenGates(closed={"broker-1": [Reason("too few copies", ("t-0",))]})
    with pytest.raises(AnsibleActionFail, match="broker-1 may not stop: too few copies: t-0"):
        gate("h1", closed, part="brokers", moment="before")
    assert gate("h1", OpenGates(), part="brokers", moment="after", began={"since": 1})["node"] == BROKERS[0].name


def test_a_unit_of_another_cluster_is_not_restarted(gate: Callable[..., Any]) -> None:
    from ansible.errors import AnsibleActionFail

    with pytest.raises(AnsibleActionFail, match="kafka on h1 belongs to the cluster two, this one is trio"):
        gate("h1", OpenGates(), "Kafka broker 1 of two", part="brokers", moment="before")
    assert gate("h1", OpenGates(), "Kafka broker 1 of trio", part="brokers", moment="before")["unit"] == "kafka"


def test_what_cannot_be_made_safe_is_accepted_as_users_of_the_playbook_can(gate: Callable[..., Any]) -> None:
    from ansible.errors import AnsibleActionFail

    hopeless = OpenGates(hopeless=(Reason("no copy to spare", ("t-0",), "more copies"),))
    with pytest.raises(AnsibleActionFail, match="accept the risk with -e kafka_unsafe_partitions=true"):
        gate("h1", hopeless, part="brokers", moment="before")


def test_an_argument_it_does_not_know_is_refused(gate: Callable[..., Any]) -> None:
    from ansible.errors import AnsibleActionFail

    with pytest.raises(AnsibleActionFail, match="unknown argument: kind"):
        gate("h1", OpenGates(), part="brokers", moment="before", kind="broker")
    with pytest.raises(AnsibleActionFail, match="moment is one of next, before, after"):
        gate("h1", OpenGates(), part="brokers", moment="now")
    with pytest.raises(AnsibleActionFail, match="name a node, or a part of the host: keepers, brokers"):
        gate("h1", OpenGates(), part="kafka", moment="before")


def test_the_next_node_is_the_one_that_kcluster_restart_takes(gate: Callable[..., Any]) -> None:
    restarted: list[str] = []
    hosts = ["h1", "h2"]
    while (found := gate("h1", OpenGates(), moment="next", hosts=hosts, restarted=restarted))["node"]:
        assert found["node"] in found["left"]
        assert gate(found["host"], OpenGates(), node=found["node"], moment="before")["unit"] == found["unit"]
        restarted.append(found["node"])
    assert restarted[-2:] == ["broker-1", "broker-2"]  # broker-2 leads
    assert sorted(restarted) == ["broker-1", "broker-2", "zookeeper-1", "zookeeper-2"]
    assert found["left"] == []


def test_what_cannot_be_made_safe_is_refused_before_the_first_node_is_named(gate: Callable[..., Any]) -> None:
    from ansible.errors import AnsibleActionFail

    hopeless = OpenGates(hopeless=(Reason("no copy to spare", ("t-0",), "more copies"),))
    with pytest.raises(AnsibleActionFail, match="accept the risk with -e kafka_unsafe_partitions=true"):
        gate("h1", hopeless, moment="next", hosts=["h1"])
    assert gate("h1", hopeless, moment="next", hosts=["h1"], restarted=["zookeeper-1"])["node"] == "broker-1"


def test_without_the_client_of_the_brokers_it_refuses_at_the_first_node_of_any_kind(
    gate: Callable[..., Any], plugin: Callable[[str], ModuleType], monkeypatch: pytest.MonkeyPatch
) -> None:
    from ansible.errors import AnsibleActionFail

    monkeypatch.setattr(plugin("action.gate"), "find_spec", lambda name: None)
    with pytest.raises(AnsibleActionFail, match=r"nothing was stopped\ntry: .* -m pip install confluent-kafka"):
        gate("h1", OpenGates(), part="keepers", moment="before")


def test_its_documentation_names_its_arguments(plugin: Callable[[str], ModuleType]) -> None:
    import yaml

    assert set(yaml.safe_load(plugin("modules.gate").DOCUMENTATION)["options"]) == plugin("action.gate")._ARGUMENTS


def test_gates_ask_as_the_inventory_says(plugin: Callable[[str], ModuleType]) -> None:
    module = plugin("action.gate")
    task = SimpleNamespace(args={}, check_mode=False, async_val=0, diff=False, _uuid="1", action="gate")
    action = module.ActionModule(task, None, None, None, None, None)
    secured = replace(TRIO, client=Client({"security.protocol": "SSL"}, "kafka_client_properties"))
    assert action._gates(secured, None).config == {"security.protocol": "SSL"}
    assert action._gates(TRIO, None).config == {}
