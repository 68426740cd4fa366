from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import pytest

from kcluster.smoke.verdict import UNKNOWN_SEQUENCE, Flaw, SmokeRecord, Verdict, decode, encode, judge, judge_resume

RUN = "a1b2c3d4"


def record(sequence: int, partition: int = 0, offset: int | None = None, path: int = 0) -> SmokeRecord:
    value = encode(RUN, path, sequence)
    return decode(RUN, value, partition, sequence if offset is None else offset)


TEN = [record(sequence) for sequence in range(10)]


def flaws(verdict: Verdict) -> list[tuple[Flaw, int]]:
    return [(fault.flaw, fault.sequence) for fault in verdict.faults]


def without(records: Sequence[SmokeRecord], *sequences: int) -> list[SmokeRecord]:
    return [one for one in records if one.sequence not in sequences]


def test_a_record_survives_its_encoding() -> None:
    value = encode(RUN, 3, 12345)
    assert len(value) == 100
    read = decode(RUN, value, 2, 7)
    assert (read.sequence, read.path, read.partition, read.offset) == (12345, 3, 2, 7)


@pytest.mark.parametrize(
    "value",
    [b"", b"x", b"hello world", encode("another1", 0, 1), encode(RUN, 0, 1)[:-1], b"X" + encode(RUN, 0, 1)[1:]],
)
def test_what_is_damaged_or_of_another_run_has_no_sequence(value: bytes) -> None:
    assert decode(RUN, value, 0, 0).sequence == UNKNOWN_SEQUENCE


def test_every_single_flipped_bit_is_noticed() -> None:
    value = encode(RUN, 0, 7)
    for at in range(len(value)):
        damaged = value[:at] + bytes([value[at] ^ 1]) + value[at + 1 :]
        assert decode(RUN, damaged, 0, 0).sequence == UNKNOWN_SEQUENCE


def test_everything_read_at_its_offset_passes() -> None:
    verdict = judge(TEN, TEN)
    assert verdict.passed
    assert (verdict.acknowledged, verdict.seen, verdict.duplicates) == (10, 10, 0)


def test_partitions_may_arrive_interleaved() -> None:
    other = [record(sequence, partition=1, offset=sequence - 10) for sequence in range(10, 20)]
    mixed = [one for pair in zip(other, TEN, strict=True) for one in pair]
    assert judge([*TEN, *other], mixed).passed


def test_two_paths_may_interleave_in_one_partition() -> None:
    written = [record(0, offset=0), record(50, offset=1, path=1), record(1, offset=2), record(51, offset=3, path=1)]
    assert judge(written, written).passed


def test_nothing_acknowledged_proves_nothing() -> None:
    assert not judge([], []).passed


@pytest.mark.parametrize("missing", [(0,), (9,), (4,), (3, 4, 5), tuple(range(10))])
def test_an_acknowledged_record_that_is_not_seen_is_lost(missing: tuple[int, ...]) -> None:
    verdict = judge(TEN, without(TEN, *missing))
    assert not verdict.passed
    assert flaws(verdict) == [(Flaw.LOST, sequence) for sequence in missing]
    assert verdict.faults[0].offset == missing[0]


def test_lost_records_are_named_from_the_beginning_whatever_the_order_of_the_acknowledgements() -> None:
    assert [fault.offset for fault in judge(TEN[::-1], TEN[6:]).faults] == [0, 1, 2, 3, 4, 5]


def test_a_lost_record_whose_offset_was_given_away_says_to_whom() -> None:
    late = record(77, offset=4)
    verdict = judge([*without(TEN, 4), record(4)], [*TEN[:4], late, *TEN[5:]], undelivered=[77])
    assert (Flaw.LOST, 4) in flaws(verdict)
    assert "sequence 77" in verdict.faults[0].detail


def test_a_changed_value_is_found() -> None:
    changed = SmokeRecord(UNKNOWN_SEQUENCE, UNKNOWN_SEQUENCE, 0, 4, checksum=1)
    assert flaws(judge(TEN, [*TEN[:4], changed, *TEN[5:]])) == [(Flaw.CHANGED, 4)]


def test_a_value_that_keeps_its_number_but_not_its_content_is_changed() -> None:
    changed = replace(TEN[4], checksum=TEN[4].checksum ^ 1)
    assert flaws(judge(TEN, [*TEN[:4], changed, *TEN[5:]])) == [(Flaw.CHANGED, 4)]


def test_a_record_at_another_offset_is_moved_not_lost() -> None:
    verdict = judge(TEN, [*TEN[:9], replace(TEN[9], offset=15)])
    assert flaws(verdict) == [(Flaw.MOVED, 9)]
    assert "offset 15" in verdict.faults[0].detail


def test_a_record_in_another_partition_is_moved() -> None:
    assert flaws(judge(TEN, [*TEN[:9], replace(TEN[9], partition=1)])) == [(Flaw.MOVED, 9)]


def test_two_acknowledgements_on_one_offset_clash() -> None:
    verdict = judge([*TEN, record(10, offset=9)], TEN)
    assert flaws(verdict) == [(Flaw.CLASH, 10), (Flaw.LOST, 10)]


def test_a_second_copy_is_a_counted_duplicate() -> None:
    verdict = judge(TEN, [*TEN, replace(TEN[2], offset=10), replace(TEN[2], offset=11)])
    assert verdict.duplicates == 2
    assert flaws(verdict) == [(Flaw.DUPLICATE, 2), (Flaw.DUPLICATE, 2)]
    assert not verdict.passed


def test_a_place_read_twice_is_out_of_order_and_no_duplicate() -> None:
    verdict = judge(TEN, [*TEN, TEN[9]])
    assert flaws(verdict) == [(Flaw.REORDERED, 9)]
    assert verdict.duplicates == 0


def test_offsets_that_go_backward_are_out_of_order() -> None:
    assert flaws(judge(TEN, [*TEN[:4], TEN[5], TEN[4], *TEN[6:]])) == [(Flaw.REORDERED, 4)]


def test_two_records_that_changed_places_are_moved_and_out_of_order() -> None:
    swapped = [*TEN[:4], record(5, offset=4), record(4, offset=5), *TEN[6:]]
    assert flaws(judge(TEN, swapped)) == [(Flaw.MOVED, 4), (Flaw.MOVED, 5), (Flaw.REORDERED, 4)]


def test_a_log_in_the_wrong_order_is_found_even_when_the_acknowledgements_agree() -> None:
    log = [record(1, offset=0), record(0, offset=1)]
    assert flaws(judge(log, log)) == [(Flaw.REORDERED, 0)]


def test_an_unacknowledged_record_may_appear_or_not() -> None:
    absent = judge(TEN, TEN, undelivered=[10, 11])
    present = judge(TEN, [*TEN, record(10)], undelivered=[10, 11])
    assert absent.passed
    assert present.passed
    assert absent.indeterminate == present.indeterminate == 2


def test_a_foreign_record_is_named() -> None:
    verdict = judge(TEN, [*TEN, decode(RUN, b"who are you", 0, 10)])
    assert flaws(verdict) == [(Flaw.FOREIGN, UNKNOWN_SEQUENCE)]
    assert verdict.faults[0].offset == 10


def test_a_sequence_that_nobody_sent_is_foreign() -> None:
    assert flaws(judge(TEN, [*TEN, record(99, offset=10)])) == [(Flaw.FOREIGN, 99)]


def test_flaws_are_counted_by_kind() -> None:
    verdict = judge(TEN, without(TEN, 1, 2))
    assert verdict.count(Flaw.LOST) == 2
    assert verdict.count(Flaw.CHANGED) == 0


def test_a_group_that_goes_on_from_its_commit_is_right() -> None:
    resumed = [(0, 2), (1, 1), (0, 3), (1, 2), (0, 4)]
    assert judge_resume({0: 2, 1: 1}, {0: 5, 1: 3}, resumed) == ()


@pytest.mark.parametrize(
    ("resumed", "offset", "words"),
    [
        ([3, 4], 2, "expected 2, read 3"),
        ([1, 2, 3, 4], 2, "expected 2, read 1"),
        ([2, 3], 4, "expected 4, read nothing"),
        ([], 2, "expected 2, read nothing"),
        ([2, 3, 4, 4], 4, "expected the end, read 4"),
        ([2, 4, 3], 3, "expected 3, read 4"),
    ],
)
def test_a_group_that_skips_repeats_or_stops_early_is_found(resumed: list[int], offset: int, words: str) -> None:
    (fault,) = judge_resume({0: 2}, {0: 5}, [(0, one) for one in resumed])
    assert fault.flaw is Flaw.NOT_RESUMED
    assert fault.offset == offset
    assert words in fault.detail
