"""A plan that was agreed to: its steps, kept in a file or while a question waits, and what has moved since."""

from __future__ import annotations

import json
import os
from collections.abc import Iterator, Mapping
from dataclasses import asdict, dataclass
from pathlib import Path
from typing import Any

from kcluster.errors import RefusedError, UsageError
from kcluster.model.cluster import Cluster
from kcluster.plan.fingerprint import fingerprint
from kcluster.plan.steps import Plan

_SHOWN = 10


@dataclass(frozen=True)
class AgreedPlan:
    """The steps of a plan for one wanted cluster."""

    cluster: str
    inventory: str
    """The fingerprint of the wanted cluster."""
    steps: Mapping[str, str]
    """What each step does, and how: "h1: change /etc/kafka/server.properties" and its diff."""

    @classmethod
    def of(cls, plan: Plan, cluster: Cluster) -> AgreedPlan:
        """The steps of a plan."""
        every = (step for stage in (plan, *plan.later) for step in _steps(stage))
        return cls(cluster.name, fingerprint(cluster), dict(every))

    @classmethod
    def read(cls, file: Path) -> AgreedPlan:
        """The plan of a file that `write` wrote; UsageError for any other."""
        try:
            found: Any = json.loads(file.read_text())
            return cls(
                str(found["cluster"]), str(found["inventory"]), {str(k): str(v) for k, v in found["steps"].items()}
            )
        except OSError as problem:
            raise UsageError(f"--plan {file}: {problem.strerror}", resolution=_MAKE) from problem
        except (ValueError, KeyError, TypeError, AttributeError) as problem:
            raise UsageError(f"--plan {file} is not a plan of kcluster", resolution=_MAKE) from problem

    def write(self, file: Path) -> None:
        """Write it for `provision --plan`; readable by its owner only, as configuration is in it."""
        beside = file.with_name(f".{file.name}.{os.getpid()}")
        try:
            with open(os.open(beside, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600), "w") as out:
                json.dump(asdict(self), out, indent=1)
            beside.replace(file)
        except OSError as problem:
            beside.unlink(missing_ok=True)
            raise UsageError(
                f"--out {file}: {problem.strerror}", resolution="name a file in a folder of yours"
            ) from problem

    def refuse_moved(self, now: AgreedPlan, outcome: str = "nothing was changed") -> None:
        """RefusedError unless each step of now was agreed to; a step that is not needed any more was done meanwhile.

        `outcome` says what was changed before.
        """
        if self.cluster != now.cluster:
            raise RefusedError(
                f"the plan is for {self.cluster}, the inventory describes {now.cluster}", resolution=_AGAIN
            )
        if self.inventory != now.inventory:
            raise RefusedError(
                f"the inventory of {self.cluster} has changed since the plan was made; {outcome}",
                details="\n".join(self._moved(now)),
                resolution=_AGAIN,
            )
        if moved := list(self._moved(now)):
            raise RefusedError(
                f"hosts of {self.cluster} have changed since the plan was made; {outcome}",
                details="\n".join(moved),
                resolution=_AGAIN,
            )

    def _moved(self, now: AgreedPlan) -> Iterator[str]:
        new = [step for step in now.steps if step not in self.steps]
        other = [step for step, how in now.steps.items() if step in self.steps and how != self.steps[step]]
        for steps, what in ((new, "not in the plan"), (other, "different from the plan")):
            yield from (f"{step}: {what}" for step in steps[:_SHOWN])
            if len(steps) > _SHOWN:
                yield f"and {len(steps) - _SHOWN} more that are {what}"


_MAKE = "make one: kcluster plan -i INV --out FILE"
_AGAIN = "look at the new plan: kcluster plan -i INV"


def _steps(plan: Plan) -> Iterator[tuple[str, str]]:
    stage = f"{plan.title}: " if plan.title else ""
    for change in plan.changes:
        yield f"{stage}{change.host}: {change.action} {change.what}", change.diff
    for start in plan.starts:
        yield f"{stage}{start.host}: start {start.node}", ""
    for restart in plan.restarts:
        yield f"{stage}{restart.host}: restart {restart.node}", "; ".join(restart.reasons)
    for setting in plan.settings:
        yield f"{stage}{setting.node or 'all brokers'}: set {setting.key}", str(setting.after)
    for topic in plan.topics or ():
        yield f"topic: {topic.words}", topic.before
