"""What the options of `kcluster produce` mean."""

from __future__ import annotations

import pytest

from kcluster.app import main


@pytest.mark.parametrize(
    ("options", "error"),
    [
        (["-H", "novalue"], "a header is K=V, not 'novalue'"),
        (["-H", "=x"], "a header is K=V, not '=x'"),
        (["--key-separator", ""], "--key-separator needs a text, --input lines and no --key"),
        (["--key-separator", ":", "--key", "k"], "--key-separator needs"),
        (["--key-separator", ":", "--input", "jsonl"], "--key-separator needs"),
        (["--file", "nowhere.txt"], "cannot read nowhere.txt: No such file or directory"),
        (["--file", "/"], "cannot read /: Is a directory"),
    ],
)
def test_options_that_do_not_fit_are_refused(
    options: list[str], error: str, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["produce", "t", "-b", "127.0.0.1:1", *options]) == 2
    assert f"error: {error}" in capsys.readouterr().err
