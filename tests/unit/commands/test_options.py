"""Questions before a change: who may answer them, and how."""

from __future__ import annotations

import pytest

from kcluster import show
from kcluster.commands import options
from kcluster.errors import RefusedError, UsageError


@pytest.fixture
def answer(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """A person at a terminal; the last element is what they type."""
    said = [""]
    monkeypatch.setattr(show, "interactive", lambda: True)
    monkeypatch.setattr(show, "ask", lambda question: said[-1])
    return said


def test_yes_answers_without_asking() -> None:
    options.confirm("Restart?", yes=True)


def test_without_a_terminal_a_change_is_refused() -> None:
    with pytest.raises(UsageError) as refused:
        options.confirm("Restart?", yes=False)
    assert refused.value.resolution == "add --yes"


@pytest.mark.parametrize("word", ["y", "Y", "yes"])
def test_yes_at_the_terminal_goes_on(answer: list[str], word: str) -> None:
    answer.append(word)
    options.confirm("Restart?", yes=False)


@pytest.mark.parametrize("word", ["", "n", "no", "what"])
def test_anything_else_changes_nothing(answer: list[str], word: str) -> None:
    answer.append(word)
    with pytest.raises(RefusedError, match="nothing was changed"):
        options.confirm("Restart?", yes=False)


def test_data_is_deleted_only_for_the_right_name(answer: list[str]) -> None:
    answer.append("demo")
    options.confirm_by_name("Delete all data?", "demo")
    options.confirm_by_name("Delete all data?", "demo", given="demo")
    answer.append("yes")
    with pytest.raises(RefusedError, match="nothing was deleted"):
        options.confirm_by_name("Delete all data?", "demo")
    with pytest.raises(RefusedError, match="nothing was deleted"):
        options.confirm_by_name("Delete all data?", "demo", given="other")


def test_without_a_terminal_the_name_must_be_given() -> None:
    with pytest.raises(UsageError) as refused:
        options.confirm_by_name("Delete all data?", "demo")
    assert refused.value.resolution == "add --confirm demo"


def test_yes_is_no_name_of_what_is_deleted(answer: list[str]) -> None:
    answer.append("demo")
    with pytest.raises(UsageError, match=r"^--yes does not confirm that data is deleted$") as refused:
        options.confirm_by_name("Delete all data?", "demo", yes=True)
    assert refused.value.resolution == "add --confirm demo"
    options.confirm_by_name("Delete all data?", "demo", given="demo", yes=True)
