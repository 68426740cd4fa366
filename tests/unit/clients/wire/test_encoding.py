"""The bytes of Kafka's protocol."""

import pytest

from kcluster.clients.wire.encoding import ByteReader, compact_array, compact_string, string, uvarint


@pytest.mark.parametrize(("number", "raw"), [(0, b"\x00"), (127, b"\x7f"), (128, b"\x80\x01"), (300, b"\xac\x02")])
def test_unsigned_numbers_go_both_ways(number, raw):
    assert uvarint(number) == raw
    assert ByteReader(raw).uvarint() == number


def test_texts_go_both_ways_in_both_forms():
    assert string("über") == b"\x00\x05\xc3\xbcber"
    assert ByteReader(string("über")).string() == "über"
    assert compact_string("ab") == b"\x03ab"
    assert ByteReader(compact_string("ab")).compact_string() == "ab"


def test_null_texts_and_lists_are_empty():
    assert ByteReader(b"\xff\xff").string() == ""
    assert ByteReader(b"\x00").compact_string() == ""
    assert ByteReader(b"\xff\xff\xff\xff").array(lambda: 1) == []
    assert ByteReader(b"\x00").compact_array(lambda: 1) == []


def test_a_compact_list_says_its_length_plus_one():
    assert compact_array(b"a", b"b") == b"\x03ab"


def test_tagged_fields_of_newer_servers_are_passed_over():
    reader = ByteReader(b"\x01\x05\x02xx\x2a")
    reader.skip_tags()
    assert reader.take(1) == b"\x2a"


def test_an_answer_that_ends_too_early_is_not_read_as_zeros():
    with pytest.raises(ValueError, match="ends too early"):
        ByteReader(b"\x00").int32()
