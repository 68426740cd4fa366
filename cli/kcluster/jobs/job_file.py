"""A job's file, checked by the job itself: a process, because Spark's code and ours never share one."""

from __future__ import annotations

import ast
import json
import subprocess
import sys
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from tempfile import NamedTemporaryFile
from typing import Any

from kcluster import paths
from kcluster.clients.spark.submit_command import program
from kcluster.errors import UsageError
from kcluster.model.suggestions import nearest


def known() -> dict[str, str]:
    """Every job there is to run and its one sentence, read from the jobs' own table."""
    table = ast.parse((paths.project() / "spark_jobs" / "settings" / "__init__.py").read_text())
    for statement in table.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "JOBS":
            return dict(ast.literal_eval(statement.value))
    raise AssertionError("spark_jobs/settings has no table of jobs")


def require(job: str) -> str:
    """The job's name when there is such a job; else the nearest."""
    if job not in known():
        near = nearest(job, known())
        meant = f"did you mean {' or '.join(near)}?" if near else f"there are: {', '.join(known())}"
        raise UsageError(f"there is no job {job}", resolution=meant)
    return job


def example(job: str) -> Path:
    """The file that comes with a job."""
    return paths.project() / "spark_jobs" / "examples" / f"{job}.yml"


@dataclass(frozen=True)
class CheckedJobFile:
    """What a job's file says with every default, or what is wrong with it."""

    findings: Sequence[str]
    settings: Mapping[str, Any]


def settings(file: Path, job: str = "", name: str = "") -> dict[str, Any]:
    """The settings of a job's file with every default; an error tells everything that is wrong with it."""
    checked = check(file, job, name)
    if checked.findings:
        count = len(checked.findings)
        raise UsageError(
            f"{file} is no file of a job: {count} finding{'s' if count > 1 else ''}",
            details="\n".join(checked.findings),
            resolution=f"correct the file, then kcluster job validate {file}",
        )
    found = dict(checked.settings)
    if job and found["job"] != job:
        raise UsageError(
            f"{file} is for the job {found['job']}, not for {job}", resolution=f"kcluster job submit {found['job']}"
        )
    return found


def check(file: Path, job: str = "", name: str = "") -> CheckedJobFile:
    """Ask the job about a file; a name on the command line counts instead of the one in the file."""
    import yaml

    written = _written(file)
    if name and isinstance(written, dict):
        written = {**written, "name": name}
    with NamedTemporaryFile("w", suffix=".yml") as asked:
        yaml.safe_dump(written, asked)  # not JSON, which knows no dates
        asked.flush()
        command = [sys.executable, str(program()), asked.name, "--check", "--job", job]
        command += ["--beside", str(file.absolute().parent)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout)
    return CheckedJobFile(answer["findings"], answer["settings"] or {})


def _written(file: Path) -> Any:
    import yaml

    try:
        return yaml.safe_load(file.read_text())
    except OSError as problem:
        raise UsageError(f"cannot read {file}: {problem.strerror}", resolution="check the path") from problem
    except UnicodeDecodeError as problem:
        raise UsageError(f"{file} is not text", resolution="a job's file is YAML in UTF-8") from problem
    except (yaml.YAMLError, ValueError) as problem:  # the second for 2026-13-45, which looks like a date
        raise UsageError(f"{file} is not YAML", details=str(problem), resolution="correct the file") from problem
