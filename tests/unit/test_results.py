from __future__ import annotations

import pytest

from kcluster.results import counted, enumerated, few


@pytest.mark.parametrize(
    ("number", "noun", "plural", "text"),
    [
        (0, "partition", "", "0 partitions"),
        (1, "partition", "", "1 partition"),
        (2, "partition", "", "2 partitions"),
        (1_000, "record", "", "1,000 records"),
        (1, "address", "addresses", "1 address"),
        (2, "address", "addresses", "2 addresses"),
    ],
)
def test_a_number_and_its_noun_agree(number: int, noun: str, plural: str, text: str) -> None:
    assert counted(number, noun, plural) == text


def test_words_become_one_phrase() -> None:
    assert [enumerated(words) for words in ("", "a", "ab", "abc")] == ["", "a", "a and b", "a, b and c"]
    assert enumerated(["0", "1", "all"], "or") == "0, 1 or all"


def test_of_many_words_the_first_are_named_and_the_others_counted() -> None:
    assert [few("abcdef"[:number]) for number in (0, 1, 5)] == ["", "a", "a, b, c, d, e"]
    assert few(iter("abcdefg")) == "a, b, c, d, e and 2 more"
    assert few("abcdef", "; ") == "a; b; c; d; e and 1 more"
