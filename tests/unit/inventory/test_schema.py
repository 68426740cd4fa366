"""The vocabulary: every word is complete, and slips of the fingers find it."""

from __future__ import annotations

from kcluster.inventory.schema import PREFIXES, VARIABLES


def test_every_word_is_complete_and_begins_as_one_of_ours() -> None:
    for name, word in VARIABLES.items():
        assert name.startswith(PREFIXES)
        assert word.where in ("all", "host", "group, host", "any")
        assert word.meaning
