"""Records: nothing is lost through JSON, and a wrong line says what is wrong."""

from __future__ import annotations

import json
import random

import pytest

from kcluster.model.record import Record, RecordError, columns, from_json, template, to_json, unescaped

NASTY = [
    None,
    b"",
    b"null",
    b"plain",
    b'quote " backslash \\ slash /',
    b"line\nfeed\r\ttab",
    b"\0zero\0",
    b"\xff\xfe not text \x80",
    b"\xed\xa0\x80 a surrogate, coded",
    "snow ☃ and 🙂 and \u2028 and \x85".encode(),
    b"{}",
    bytes(range(256)),
]
NAMES = ["h", "", "é☃", 'a"b', "line\nfeed"]


def _any_record(chance: random.Random) -> Record:
    headers = [(chance.choice(NAMES), chance.choice(NASTY)) for _ in range(chance.randrange(4))]
    return Record(
        value=chance.choice([*NASTY, chance.randbytes(20)]),
        key=chance.choice([*NASTY, chance.randbytes(3)]),
        headers=tuple(headers),
        partition=chance.choice([None, 0, 99]),
        offset=chance.choice([None, 0, 2**63 - 1]),
        timestamp=chance.choice([None, 0, 1_700_000_000_123]),
    )


def test_every_record_comes_back_from_its_json_line() -> None:
    chance = random.Random(7)
    for _ in range(2000):
        record = _any_record(chance)
        line = to_json(record)
        assert b"\n" not in line
        assert from_json(line) == record


def test_text_stays_readable_and_bytes_become_base64() -> None:
    assert json.loads(to_json(Record(value="é".encode(), key=b"\xff"))) == {
        "key_base64": "/w==",
        "value": "é",
        "partition": None,
        "offset": None,
        "timestamp": None,
        "headers": [],
    }


def test_headers_may_be_an_object() -> None:
    assert from_json(b'{"value": "v", "headers": {"a": "1", "b": null}}').headers == (("a", b"1"), ("b", None))


@pytest.mark.parametrize(
    ("line", "fault"),
    [
        (b"", "it is not JSON: Expecting value at column 1"),
        (b'{"value": "a"', "it is not JSON: Expecting ',' delimiter at column 14"),
        (b'{"value": "\xff"}', "it is not UTF-8 text"),
        (b"[" * 100_000, "its JSON is nested too deeply"),
        (b"[1]", "it is not a JSON object but a list"),
        (b"7", "it is not a JSON object but a number"),
        (b'{"key": "a"}', "it has no `value`; write null for a tombstone"),
        (b'{"valeu": "a"}', "unknown field `valeu`"),
        (b'{"value": {"a": 1}}', "`value` must be a string or null, not an object"),
        (b'{"value": 1}', "`value` must be a string or null, not a number"),
        (b'{"value": "a", "value_base64": "YQ=="}', "it has both `value` and `value_base64`"),
        (b'{"value_base64": "*"}', "`value_base64` is not base64"),
        (b'{"value_base64": "\xc3\xa9"}', "`value_base64` is not base64"),
        (b'{"value": "\\ud800"}', "`value` has half of a surrogate pair"),
        (b'{"value": "a", "partition": -1}', "`partition` must not be negative"),
        (b'{"value": "a", "partition": 9223372036854775808}', "`partition` is too large"),
        (b'{"value": "a", "partition": 3000000000}', "`partition` is too large"),
        (b'{"value": "a", "timestamp": true}', "`timestamp` must be a whole number, not true or false"),
        (b'{"value": "a", "timestamp": 1.5}', "`timestamp` must be a whole number, not a fraction"),
        (b'{"value": "a", "headers": ["a"]}', "`headers` must be a list of"),
        (b'{"value": "a", "headers": [{"value": "x"}]}', "a header's `key` must be a string"),
        (b'{"value": "a", "headers": [{"key": "a\\u0000b", "value": "x"}]}', "must not contain a zero byte"),
    ],
)
def test_a_wrong_line_says_what_is_wrong(line: bytes, fault: str) -> None:
    with pytest.raises(RecordError) as caught:
        from_json(line)
    assert str(caught.value).startswith(fault) or fault in str(caught.value)


RECORD = Record(value=b"v", key=None, headers=(("a", b"1"), ("b", None)), partition=3, offset=7, timestamp=12)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ("%k %v", b"null v\n"),
        ("%p:%o", b"3:7\n"),
        (r"%T\t%h\n", b"12\ta=1,b=null\n"),
        ("%v\n", b"v\n"),
        (r"%v\0", b"v\0"),
        (r"100%% \\ é", "100% \\ é\n".encode()),
        ("", b"\n"),
        (columns(["key", "partition"]), b"null\t3\tv\n"),
    ],
)
def test_a_template_shows_a_record(text: str, line: bytes) -> None:
    assert template(text)(RECORD) == line


@pytest.mark.parametrize("text", ["%x", "%", "a\\", r"\q"])
def test_a_template_with_an_unknown_place_is_refused(text: str) -> None:
    with pytest.raises(RecordError, match="unknown placeholder"):
        template(text)


def test_a_separator_may_be_written_with_escapes() -> None:
    assert unescaped(r"\t") == b"\t"
    assert unescaped(r"a\\tb") == rb"a\tb"
    assert unescaped("é") == "é".encode()
