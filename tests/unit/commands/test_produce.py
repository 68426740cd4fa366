"""What the options of `kcluster produce` mean."""

from __future__ import annotations

import pytest

from kcluster.app import main


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["-H", "novalue"], "--header novalue: use KEY=VALUE"),
        (["-H", "=x"], "--header =x: use KEY=VALUE"),
        (["--key-separator", ""], "--key-separator cannot be empty, and not be used with --key or --input jsonl"),
        (["--key-separator", ":", "--key", "k"], "--key-separator cannot be empty"),
        (["--key-separator", ":", "--input", "jsonl"], "--key-separator cannot be empty"),
        (["--file", "nowhere.txt"], "cannot read nowhere.txt: No such file or directory"),
        (["--file", "/"], "cannot read /: Is a directory"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    options: list[str], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["produce", "t", "-b", "127.0.0.1:1", *options]) == 2
    assert f"error: {error}" in capsys.readouterr().err
