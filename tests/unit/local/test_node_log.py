from __future__ import annotations

from kcluster.local.node_log import tail


def test_the_last_lines_of_a_file_longer_than_one_block(tmp_path):
    file = tmp_path / "server.log"
    file.write_text("".join(f"line {number}\n" for number in range(20000)))
    assert tail(file, 3) == ["line 19997", "line 19998", "line 19999"]
    assert len(tail(file, 15000)) == 15000


def test_only_what_was_written_since(tmp_path):
    file = tmp_path / "server.log"
    file.write_text("old\nnew\n")
    assert tail(file, 10, since=4) == ["new"]


def test_a_file_that_is_not_there_has_no_lines(tmp_path):
    assert tail(tmp_path / "none", 5) == []


def test_no_lines_are_no_lines(tmp_path):
    file = tmp_path / "server.log"
    file.write_text("a\n")
    assert tail(file, 0) == []
