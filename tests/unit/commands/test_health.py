from __future__ import annotations

import pytest
import typer

from kcluster.app import main
from kcluster.commands.health import duration
from kcluster.errors import ExitCode


@pytest.mark.parametrize(("text", "seconds"), [("30", 30), ("30s", 30), ("2m", 120), ("1h", 3600), ("0.5s", 0.5)])
def test_durations(text: str, seconds: float) -> None:
    assert duration(text) == seconds


@pytest.mark.parametrize("text", ["", "s", "-1s", "1d", "1 m", "soon"])
def test_what_is_no_duration_is_refused(text: str) -> None:
    with pytest.raises(typer.BadParameter, match="use a time such as 30s, 2m or 1h"):
        duration(text)


def test_a_wrong_duration_is_a_usage_error(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["health", "--wait", "soon"]) == ExitCode.USAGE
    assert "--wait soon: use a time such as 30s" in capsys.readouterr().err


def test_waiting_and_watching_exclude_each_other(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["health", "-b", "x:1", "--wait", "1s", "--watch"]) == ExitCode.USAGE
    assert "error: --wait and --watch exclude each other" in capsys.readouterr().err
