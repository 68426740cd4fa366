"""Every test is in a lane, and `./run test` knows the lanes."""

from __future__ import annotations

import re
import subprocess
from pathlib import Path

from tests.lanes import EACH_FOR_ITSELF, LANES, MINUTES, ON_THE_NET, SHARED, group


def test_every_folder_of_tests_has_a_lane(project: Path) -> None:
    assert {path.parent.relative_to(project / "tests").parts[0] for path in project.glob("tests/*/**/test_*.py")} == {
        *LANES
    }


def test_the_lanes_are_markers_words_of_run_and_rows_of_the_table(project: Path) -> None:
    markers = re.findall(r'^    "(\w+): ', (project / "pyproject.toml").read_text(), re.M)
    rows = re.findall(r"^\| `(\w+)` \| `[a-z`, ]+` \|", (project / "CONTRIBUTING.md").read_text(), re.M)
    assert {*LANES.values()} == {*markers} == {*rows}
    done = subprocess.run(["./run", "test", "nonsense"], capture_output=True, text=True, cwd=project)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"there is no lane nonsense; lanes are: {', '.join(dict.fromkeys(markers))}\n"


def test_what_is_said_of_files_is_said_of_files_that_are_there(project: Path) -> None:
    files = [str(path.relative_to(project)) for path in project.glob("tests/*/test_*.py")]
    for prefix in (*SHARED, *ON_THE_NET, *EACH_FOR_ITSELF, *(name.partition("::")[0] for name in MINUTES)):
        assert prefix in {*SHARED.values()} or any(file.startswith(prefix) for file in files), prefix


def test_tests_that_share_what_is_dear_stay_together() -> None:
    assert group("tests/integration/test_topic.py::test_a[live]") == group("tests/integration/test_group.py::test_b")
    assert group("tests/integration/test_topic.py::test_a[kraft]") == group("tests/spark/test_latest.py::test_c")
    assert group("tests/hosts/test_plan.py::test_a") != group("tests/hosts/test_plan.py::test_b")
    assert (
        group("tests/unit/test_run.py::test_a") == group("tests/unit/test_run.py::test_b") == "tests/unit/test_run.py"
    )


def test_a_lane_and_a_path_are_pytest_without_lint(project: Path) -> None:
    stubs = "source ./run; setup() { :; }; spark() { :; }; lint() { echo lint; }; pytest() { echo pytest ${@:4}; }; "
    for words, calls in {"": "lint pytest", "unit -x": "pytest -m unit -x", "tests/lab": "pytest tests/lab"}.items():
        done = subprocess.run(["bash", "-c", f"{stubs} tests {words}"], capture_output=True, text=True, cwd=project)
        assert done.stdout.split() == calls.split(), words
