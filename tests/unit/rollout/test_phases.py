"""What a run says when Ctrl-C ends it."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from kcluster.journal import Journal
from kcluster.results import StepState
from kcluster.rollout.phases import Phases


class Said:
    """A watcher that remembers the lines."""

    def __init__(self) -> None:
        self.lines: list[str] = []

    def phase(self, title: str) -> None: ...

    def step(self, host: str, text: str, state: StepState) -> None: ...

    def pause(self) -> None: ...

    def say(self, text: str) -> None:
        self.lines.append(text)


@pytest.mark.parametrize(
    ("name", "left"), [("plan", "nothing was changed"), ("apply", "changes so far stay and started nodes run on")]
)
def test_ctrl_c_tells_the_phase_and_how_the_hosts_are_left(
    name: str, left: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("KCLUSTER_HOME", str(tmp_path))
    said = Said()
    with Journal.begin("c", ["kcluster"]) as journal:
        phases = Phases(said, journal)
        with pytest.raises(KeyboardInterrupt), phases.interruptible(), phases.phase(name, "the work"):
            raise KeyboardInterrupt
    assert said.lines[0].startswith(f"interrupted in: the work; {left}")
    assert said.lines[0] in [json.loads(line).get("what") for line in journal.file.read_text().splitlines()]
