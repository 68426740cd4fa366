"""What the options of `kcluster consume` mean."""

from __future__ import annotations

import pytest

from kcluster.app import main
from kcluster.commands.consume import start_of
from kcluster.operations.consume import StartPosition

ISO = "@2026-01-31T12:00:00+00:00"


@pytest.mark.parametrize(
    ("text", "start"),
    [
        (None, StartPosition("end")),
        ("beginning", StartPosition("beginning")),
        ("end", StartPosition("end")),
        ("1000", StartPosition("offset", 1000)),
        ("-10", StartPosition("last", 10)),
        ("@1700000000000", StartPosition("time", 1_700_000_000_000)),
        (ISO, StartPosition("time", 1_769_860_800_000)),
    ],
)
def test_an_offset_is_a_place(text: str | None, start: StartPosition) -> None:
    assert start_of(from_beginning=False, offset=text, group=None) == start


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["--offset", "soon"], "--offset soon: use beginning, end, an offset, -N or @TIME"),
        (["--offset", "@soon"], "--offset @soon: use an ISO time"),
        (["--offset", "5", "--from-beginning"], "--offset cannot be used with --from-beginning"),
        (["--offset", "5", "-g", "g"], "--offset cannot be used with --group"),
        (["-p", "0", "-g", "g"], "--partition cannot be used with --group"),
        (["--show", "key,size"], "--show size: use timestamp, partition, offset, headers or key"),
        (["--format", "%q"], "--format: unknown placeholder `%q`"),
        (["--format", "%v", "--key"], "only one of -o jsonl, --format and shown columns"),
        (["-o", "jsonl", "--key"], "only one of -o jsonl, --format and shown columns"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    options: list[str], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["consume", "t", "-b", "127.0.0.1:1", *options]) == 2
    said = capsys.readouterr()
    assert said.out == ""
    assert f"error: {error}" in said.err
    assert "  try: " in said.err
