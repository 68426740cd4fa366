"""Job files, checked by the job's own code in another process: kcluster never imports spark_jobs."""

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
from kcluster.clients.spark.submit_command import entry_point
from kcluster.errors import UsageError
from kcluster.model.suggestions import nearest
from kcluster.results import counted


def known_jobs() -> dict[str, str]:
    """Every job with its one sentence, parsed from spark_jobs/settings."""
    table = ast.parse((paths.project() / "spark_jobs" / "settings" / "__init__.py").read_text())
    for statement in table.body:
        if isinstance(statement, ast.Assign) and ast.unparse(statement.targets[0]) == "JOBS":
            return dict(ast.literal_eval(statement.value))
    raise AssertionError("spark_jobs/settings has no table of jobs")


def require_job(job: str) -> str:
    """The name of a known job; UsageError with similar names for an unknown one."""
    if job not in known_jobs():
        near = nearest(job, known_jobs())
        suggestion = f"did you mean {' or '.join(near)}?" if near else f"known jobs: {', '.join(known_jobs())}"
        raise UsageError(f"unknown job {job}", resolution=suggestion)
    return job


def example(job: str) -> Path:
    """The example file of a job, which is its default."""
    return paths.project() / "spark_jobs" / "examples" / f"{job}.yml"


@dataclass(frozen=True)
class CheckedJobFile:
    """The settings of a job file with every default, or its findings."""

    findings: Sequence[str]
    settings: Mapping[str, Any]


def settings(file: Path, job: str = "", name: str = "") -> dict[str, Any]:
    """The settings of a job file with every default; UsageError lists all findings."""
    checked = check(file, job, name)
    if checked.findings:
        count = len(checked.findings)
        raise UsageError(
            f"{file} is not a valid job file: {counted(count, 'finding')}",
            details="\n".join(checked.findings),
            resolution=f"correct the file, check it with kcluster job validate {file}",
        )
    values = dict(checked.settings)
    if job and values["job"] != job:
        raise UsageError(
            f"{file} is for the job {values['job']}, not for {job}", resolution=f"kcluster job submit {values['job']}"
        )
    return values


def check(file: Path, job: str = "", name: str = "") -> CheckedJobFile:
    """Let the job's code check a file; `name` replaces the name in the file."""
    import yaml

    content = _yaml(file)
    if name and isinstance(content, dict):
        content = {**content, "name": name}
    with NamedTemporaryFile("w", suffix=".yml") as copy:
        yaml.safe_dump(content, copy)  # not JSON, which has no dates
        copy.flush()
        command = [sys.executable, str(entry_point()), copy.name, "--check", "--job", job]
        command += ["--beside", str(file.absolute().parent)]
        done = subprocess.run(command, capture_output=True, text=True, check=True)
    answer = json.loads(done.stdout)
    return CheckedJobFile(answer["findings"], answer["settings"] or {})


def _yaml(file: Path) -> Any:
    import yaml

    try:
        return yaml.safe_load(file.read_text())
    except OSError as problem:
        raise UsageError(f"cannot read {file}: {problem.strerror}", resolution="check the path") from problem
    except UnicodeDecodeError as problem:
        raise UsageError(f"{file} is not text", resolution="a job file is YAML in UTF-8") from problem
    except (yaml.YAMLError, ValueError) as problem:  # ValueError for 2026-13-45, which looks like a date
        raise UsageError(f"{file} is not YAML", details=str(problem), resolution="correct the file") from problem
