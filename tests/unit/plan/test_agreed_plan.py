"""A plan that was agreed to: kept in a file, and compared with what hosts and inventory are later."""

from __future__ import annotations

import stat
from dataclasses import replace
from pathlib import Path

import pytest

from kcluster.errors import RefusedError, UsageError
from kcluster.model.client import Client
from kcluster.plan import Action, Change, Plan, Restart, Start
from kcluster.plan.agreed_plan import AgreedPlan
from kcluster.plan.fingerprint import fingerprint
from tests.unit.fake_hosts import BROKERS, TRIO

CHANGE = Change("h1", Action.CHANGE, "/etc/kafka/server.properties", diff="-a=1\n+a=2")
START = Start("broker-2", "h2", "kafka")
RESTART = Restart("broker-1", "h1", "kafka", ("a 1 -> 2",))
PLAN = Plan("trio", (CHANGE,), (START,), (RESTART,))
AGREED = AgreedPlan.of(PLAN, TRIO)


def refused(plan: Plan) -> str:
    with pytest.raises(RefusedError) as moved:
        AGREED.refuse_moved(AgreedPlan.of(plan, TRIO))
    return f"{moved.value.message}\n{moved.value.details}"


def test_a_plan_is_the_same_after_a_file(tmp_path: Path) -> None:
    file = tmp_path / "monday.plan"
    AGREED.write(file)
    AGREED.write(file)
    assert stat.S_IMODE(file.stat().st_mode) == 0o600
    AgreedPlan.read(file).refuse_moved(AGREED)
    assert list(tmp_path.iterdir()) == [file]


def test_steps_that_are_done_already_are_no_reason_to_refuse_the_others() -> None:
    AGREED.refuse_moved(AgreedPlan.of(replace(PLAN, changes=(), starts=()), TRIO))
    AGREED.refuse_moved(AgreedPlan.of(Plan("trio"), TRIO))


def test_a_step_that_nobody_agreed_to_is_refused_by_its_name() -> None:
    other = replace(CHANGE, diff="-a=0\n+a=2")
    assert "h1: change /etc/kafka/server.properties: different" in refused(replace(PLAN, changes=(other,)))
    assert "h1: restart broker-1: different" in refused(replace(PLAN, restarts=(replace(RESTART, reasons=("b",)),)))
    many = tuple(replace(START, node=f"broker-{number}") for number in range(30))
    told = refused(replace(PLAN, starts=many))
    assert told.startswith("hosts of trio have changed since the plan was made; nothing was changed")
    assert told.endswith("and 19 more that are not in the plan")


def test_another_inventory_is_refused_and_another_way_to_connect_is_not() -> None:
    moved = replace(TRIO, brokers=(replace(BROKERS[0], heap="2g"), *BROKERS[1:]))
    with pytest.raises(RefusedError, match="the inventory of trio has changed since the plan was made"):
        AGREED.refuse_moved(AgreedPlan.of(PLAN, moved))
    assert (
        fingerprint(replace(TRIO, client=Client({"security.protocol": "SSL"}, "--client-config"))) == AGREED.inventory
    )
    with pytest.raises(RefusedError, match="the plan is for trio, the inventory describes duo"):
        AGREED.refuse_moved(AgreedPlan.of(PLAN, replace(TRIO, name="duo")))


@pytest.mark.parametrize("text", ["", "[]", "{}", '{"cluster": "a", "inventory": "b", "steps": []}'])
def test_a_file_that_is_no_plan_is_refused(tmp_path: Path, text: str) -> None:
    file = tmp_path / "some.plan"
    file.write_text(text)
    with pytest.raises(UsageError, match="is not a plan of kcluster"):
        AgreedPlan.read(file)
    with pytest.raises(UsageError, match="No such file or directory"):
        AgreedPlan.read(tmp_path / "none.plan")
    with pytest.raises(UsageError, match="No such file or directory"):
        AGREED.write(tmp_path / "nowhere" / "a.plan")
