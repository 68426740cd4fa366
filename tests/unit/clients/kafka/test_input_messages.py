"""From bytes to messages, without a cluster."""

from __future__ import annotations

import random

import pytest

from kcluster.clients.kafka.input_messages import Input, ProduceRequest, lines, messages
from kcluster.model.record import RecordError


def _all(sending: ProduceRequest, *batch: bytes) -> list[dict[str, object]]:
    return [message for found in messages(sending, [list(batch)], lambda partition: None) for message in found]


def test_lines_do_not_depend_on_where_the_chunks_end() -> None:
    text = b"a\n\nlonger line\r\n\n last without end"
    chance = random.Random(1)
    for _ in range(200):
        cuts = sorted(chance.randrange(len(text)) for _ in range(4))
        chunks = [text[start:end] for start, end in zip([0, *cuts], [*cuts, len(text)], strict=True)]
        found = [line for batch in lines(chunks) for line in batch]
        assert found == [b"a", b"", b"longer line\r", b"", b" last without end"]


def test_a_line_end_at_the_end_does_not_make_another_record() -> None:
    assert list(lines([b"a\n"])) == [[b"a"]]
    assert list(lines([])) == []
    assert list(lines([b"\n"])) == [[b""]]
    assert list(lines([b"one\ntw"], lambda: True)) == [[b"one"]], "what an interrupt cut in two is no line"


def test_a_bare_line_is_a_value() -> None:
    assert _all(ProduceRequest(), b"a", b"") == [{"value": b"a"}, {"value": b""}]


def test_the_command_line_speaks_for_every_record() -> None:
    sending = ProduceRequest(key=b"k", partition=2, headers=(("h", b"x"),))
    assert _all(sending, b"a") == [{"value": b"a", "key": b"k", "partition": 2, "headers": [("h", b"x")]}]


def test_the_first_separator_ends_the_key_and_null_may_have_a_word() -> None:
    sending = ProduceRequest(separator=b":", null=b"")
    assert _all(sending, b"k:a:b", b"k:", b":v") == [
        {"key": b"k", "value": b"a:b"},
        {"key": b"k", "value": None},
        {"key": None, "value": b"v"},
    ]


def test_the_lines_before_a_faulty_one_are_sent() -> None:
    found = messages(ProduceRequest(separator=b":"), [[b"a:1", b"b:2", b"c", b"d:4"]], lambda partition: None)
    assert len(next(found)) == 2
    with pytest.raises(RecordError, match="no key separator ':'"):
        next(found)


def test_a_json_record_keeps_what_it_says_and_its_partition_is_checked() -> None:
    asked: list[int] = []
    line = b'{"key": "", "value": null, "partition": 4, "offset": 9, "timestamp": 5, "headers": [{"key": "a"}]}'
    found = next(messages(ProduceRequest(input=Input.JSONL), [[line]], asked.append))
    assert found == [{"key": b"", "value": None, "partition": 4, "timestamp": 5, "headers": [("a", None)]}]
    assert asked == [4]
