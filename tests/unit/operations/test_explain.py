from __future__ import annotations

import pytest

from kcluster.errors import UsageError
from kcluster.facts.preflight.catalogue import EXPLANATIONS
from kcluster.operations import explain


@pytest.mark.parametrize("word", EXPLANATIONS)
def test_an_explanation_has_5_to_15_lines_that_fit_a_terminal(word: str) -> None:
    lines = [str(getattr(block, "text", block)) for block in explain.explain(word).view()]
    assert 4 <= len(lines) <= 15
    assert max(map(len, lines)) <= 120
    assert lines[0].startswith(f"{word}: ")


def test_all_checks_are_listed_with_one_line_each() -> None:
    assert [entry["id"] for entry in explain.listed().data()] == list(EXPLANATIONS)


def test_of_a_misspelt_check_the_nearest_is_named() -> None:
    with pytest.raises(UsageError, match="there is no check port-matix") as found:
        explain.explain("port-matix")
    assert found.value.resolution == "kcluster explain port-matrix"


def test_of_nonsense_the_list_is_named() -> None:
    with pytest.raises(UsageError) as found:
        explain.explain("wombat")
    assert found.value.resolution == "list the checks: kcluster explain"


def test_ids_are_completed() -> None:
    from kcluster import complete

    assert complete.checks("port") == ["port-matrix", "port-taken"]
