"""The way between two clusters: between neighbours any mixture of nodes works, and from anywhere it goes on or back."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import pairwise, product

import pytest

from kcluster.config import properties
from kcluster.facts.started import endpoints
from kcluster.model.cluster import Cluster
from kcluster.model.quorum import Controller, Quorum
from kcluster.model.running import Running
from kcluster.stages import after, logins, stages
from kcluster.stages.controllers import voters_of
from kcluster.stages.ensemble import members_of
from kcluster.stages.listeners import Started
from tests.unit.plan.observed_hosts import NEW, OLD
from tests.unit.stages.changes import BOTH_WAYS, LOGIN, PLAIN, SASL, WAYS, controllers, listening, with_config


@pytest.mark.parametrize("way", WAYS)
def test_each_change_takes_these_stages(way: str) -> None:
    before, wanted, titles = WAYS[way]
    found = stages(as_it_runs(before), wanted)
    assert [stage.title for stage in found] == titles
    assert found[-1].cluster == wanted


@pytest.mark.parametrize(("before", "wanted"), BOTH_WAYS)
def test_any_mixture_of_two_neighbours_works(before: Cluster, wanted: Cluster) -> None:
    found = [before, *(stage.cluster for stage in stages(as_it_runs(before), wanted))]
    for one, two in pairwise(found):
        refuse_broken(one, two)
        assert list(logins.refusals(as_it_runs(one), two)) == []


@pytest.mark.parametrize(("before", "wanted"), BOTH_WAYS)
def test_the_next_run_goes_on_where_one_was_interrupted(before: Cluster, wanted: Cluster) -> None:
    found = stages(as_it_runs(before), wanted)
    for number, stage in enumerate(found):
        rest = stages(after(stage.cluster), wanted)
        assert [each.title for each in rest] == [each.title for each in found[number + 1 :]] or number == len(found) - 1


@pytest.mark.parametrize(("before", "wanted"), BOTH_WAYS)
def test_from_the_middle_of_each_stage_it_goes_on_and_back(before: Cluster, wanted: Cluster) -> None:
    there = before
    for stage in stages(as_it_runs(before), wanted):
        for running in half_done(there, stage.cluster):
            for goal in (wanted, before):
                way = stages(running, goal)
                refuse_broken(way[0].cluster, mixture=running)
                for one, two in pairwise(way):
                    refuse_broken(one.cluster, two.cluster)
                assert way[-1].cluster == goal
        there = stage.cluster


def test_a_cluster_that_does_not_run_needs_no_stages() -> None:
    for _, wanted, _ in WAYS.values():
        assert [stage.cluster for stage in stages(Running(wanted), wanted)] == [wanted]


def test_a_broker_without_a_process_offers_what_the_others_speak() -> None:
    running = as_it_runs(PLAIN)
    names = {name: found for name, found in running.settings.items() if name != "broker-3"}
    first = stages(replace(running, settings=names), SASL)[0].cluster
    assert {each.name for each in first.brokers[2].listeners} == {"internal", "internal_next"}
    assert next(each for each in first.brokers[2].listeners if each.name == "internal").advertised_host == "10.0.0.3"


def as_it_runs(cluster: Cluster) -> Running:
    return after(cluster)


def half_done(before: Cluster, stage: Cluster) -> Iterator[Running]:
    """Some nodes are as before, others as in the stage."""
    old, new = as_it_runs(before), as_it_runs(stage)
    names = [node.name for node in stage.nodes]
    for done in range(len(names) + 1):
        changed = {name: new.settings[name] for name in names[:done]}
        yield replace(new, settings={**old.settings, **changed})


def refuse_broken(*clusters: Cluster, mixture: Running | None = None) -> None:
    """Fail when nodes of these clusters, and of the mixture that runs, do not all find each other."""
    found = [as_it_runs(cluster) for cluster in clusters] + ([mixture] if mixture else [])
    brokers = [
        Started.of(broker, running.settings[broker.name])
        for running in found
        for broker in clusters[0].brokers
        if broker.name in running.settings
    ]
    for one, other in product(brokers, brokers):
        assert one.speech in other.offers, (one.speech, other.offers)
        ports = [each.port for each in one.broker.listeners]
        assert len(ports) == len(set(ports))
    voters_are_found([each for running in found for each in running.settings.items()])
    majorities_overlap([each for running in found for each in running.settings.items()])


def voters_are_found(nodes: list[tuple[str, Mapping[str, str]]]) -> None:
    for _, asking in nodes:
        for number, port in voters_of(asking).items():
            for name, asked in nodes:
                if name == f"controller-{number}":
                    assert port in {there for _, there in endpoints(asked["listeners"]).values()}


def majorities_overlap(nodes: list[tuple[str, Mapping[str, str]]]) -> None:
    lists = [members_of(settings) for name, settings in nodes if name.startswith("zookeeper")]
    for one, other in product(lists, lists):
        assert len(one.items() ^ other.items()) <= (2 if one.keys() == other.keys() else 1)
    connects = [settings["zookeeper.connect"].split(",") for _, settings in nodes if "zookeeper.connect" in settings]
    served = {name: set[str]() for name, _ in nodes if name.startswith("zookeeper")}
    for name, settings in nodes:
        if name in served:
            served[name].add(settings["clientPort"])
    moving = {name: ports for name, ports in served.items() if len(ports) > 1}
    for connect in connects:
        for name, ports in moving.items():
            assert {f"10.0.0.{name[-1]}:{port}" for port in ports} <= set(connect)


def test_properties_of_a_stage_outrank_all_others() -> None:
    held = replace(OLD.brokers[0], staged={"zookeeper.connect": "a:1", "log.retention.hours": "5"})
    found = {each.key: each for each in properties.settings(OLD, held)}
    assert (found["zookeeper.connect"].value, found["log.retention.hours"].source) == ("a:1", "stage")


def test_controllers_of_a_stage_are_controllers() -> None:
    first = stages(as_it_runs(controllers(9093)), controllers(9193))[0].cluster
    assert isinstance(first.metadata, Quorum)
    found = {each.key: each.value for each in properties.settings(first, first.metadata.controllers[0])}
    assert found["listeners"] == "CONTROLLER://:9093,CONTROLLER_9193://:9193"
    assert found["controller.quorum.voters"] == "3001@10.0.0.1:9093,3002@10.0.0.2:9093,3003@10.0.0.3:9093"
    assert isinstance(first.metadata.controllers[0], Controller)


def test_a_listener_in_between_takes_no_port_of_another_node_on_the_host() -> None:
    """The controllers of KRaft listen at 9093, which is the next after the usual 9092."""
    before = listening(NEW, "internal", ("internal", 9092, "PLAINTEXT"))
    wanted = with_config(listening(NEW, "internal", ("internal", 9092, "SASL_PLAINTEXT")), LOGIN)
    with_jmx = replace(wanted.brokers[0], environment={"JMX_PORT": "9094"})
    wanted = replace(wanted, brokers=(with_jmx, *wanted.brokers[1:]))
    assert stages(as_it_runs(before), wanted)[0].title == "open INTERNAL_NEXT (SASL_PLAINTEXT, PLAIN) at port 9095"
