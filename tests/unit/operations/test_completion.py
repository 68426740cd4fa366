"""The scripts that teach the shells."""

import pytest

from kcluster.operations.completion import Shell, completion


@pytest.mark.parametrize("shell", list(Shell))
def test_every_shell_gets_a_script_that_is_silent_on_stderr(shell):
    script = completion(shell).script
    calls = script.count("_KCLUSTER_COMPLETE=complete_")
    assert calls >= 1
    assert script.count("2>/dev/null") == calls
