"""What files say, however they are spelled."""

from __future__ import annotations

import pytest

from kcluster.plan import file_diff
from kcluster.render import Role


@pytest.mark.parametrize(
    "line",
    ["a.b=1", "a.b = 1", "a.b: 1", "a.b 1", "  a.b=1", "a.b=\\\n   1", "a.b=1  \n# a.c=2", "! x\na.b=1", "a.\\u0062=1"],
)
def test_a_property_is_the_same_in_every_spelling_of_java(line: str) -> None:
    assert file_diff.settings(Role.CONFIG, f"{line}\n") == {"a.b": "1"}


@pytest.mark.parametrize(
    ("spelled", "value"),
    [
        ("a\\\\", "a\\"),
        ("x\\u00e4", "xä"),
        ("\\ud83d\\ude00", "\U0001f600"),
        ("a\\tb", "a\tb"),
        ("\\ a", " a"),
        ("a=b:c", "a=b:c"),
        ("", ""),
    ],
)
def test_escapes_of_a_value_are_read_as_java_reads_them(spelled: str, value: str) -> None:
    assert file_diff.settings(Role.CONFIG, f"key={spelled}\nlast=1\n") == {"key": value, "last": "1"}


def test_a_variable_is_read_as_systemd_reads_it() -> None:
    text = '# X=1\n; Y=2\nA="-Dx=\\"a b\\" \\\\"\nB=plain\n'
    assert file_diff.settings(Role.ENVIRONMENT, text) == {"A": '-Dx="a b" \\', "B": "plain"}


def test_other_files_are_their_lines_without_comments_and_with_continued_lines_joined() -> None:
    assert file_diff.lines("# x\n\n[Service]\nExecStart=a \\\n   b\n; y\n") == ("[Service]", "ExecStart=a b")


def test_equal_texts_have_no_difference_and_secrets_make_none_either() -> None:
    before, after = "ssl.key.password=a\nx=1\n", "ssl.key.password=b\nx=1\n"
    assert file_diff.difference(Role.CONFIG, before, after) == ""
    assert file_diff.secrets(Role.CONFIG, before) != file_diff.secrets(Role.CONFIG, after)


def test_a_reference_to_a_secret_may_be_shown() -> None:
    line = "ssl.key.password=${file:/etc/secrets:key}"
    assert file_diff.hidden(Role.CONFIG, line) == line
