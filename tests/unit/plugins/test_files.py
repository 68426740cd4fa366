"""Writing files and making directories on a host, also where a service could have put links in the way."""

from __future__ import annotations

import os
from collections.abc import Callable
from pathlib import Path
from types import ModuleType

import pytest

Plugin = Callable[[str], ModuleType]


def test_a_file_is_written_whole_with_its_mode_and_differs_no_more(
    tmp_path: Path, plugin: Plugin, own: dict[str, str]
) -> None:
    files = plugin("module_utils.files")
    wanted = {**own, "path": str(tmp_path / "etc/kafka/a.properties"), "text": "k=ü\r\n", "mode": "0640"}
    assert files.drift(wanted) == {
        "path": wanted["path"], "attributes": "", "text": None, "wanted": f"{own['owner']}:{own['group']} 0640"
    }  # fmt: skip
    files.write(wanted)
    path = Path(wanted["path"])
    assert files.drift(wanted) is None
    assert (path.read_bytes(), oct(path.stat().st_mode)) == ("k=ü\r\n".encode(), "0o100640")
    path.chmod(0o644)
    assert files.drift(wanted)["attributes"] == f"{own['owner']}:{own['group']} 0644"
    assert os.listdir(path.parent) == ["a.properties"]


def test_a_file_that_cannot_be_written_leaves_the_old_one_and_no_rest(
    tmp_path: Path, plugin: Plugin, own: dict[str, str]
) -> None:
    files = plugin("module_utils.files")
    path = tmp_path / "a.properties"
    path.write_text("old")
    wanted = {"owner": "nobody-at-all", "group": own["group"], "path": str(path), "text": "new", "mode": "0640"}
    with pytest.raises(files.HostRefusedError, match="no account nobody-at-all:"):
        files.write(wanted)
    assert (path.read_text(), os.listdir(tmp_path)) == ("old", ["a.properties"])


def test_a_directory_gets_its_mode_and_what_lies_in_it_keeps_its_own(
    tmp_path: Path, plugin: Plugin, own: dict[str, str]
) -> None:
    files = plugin("module_utils.files")
    (tmp_path / "data").mkdir(mode=0o777)
    (tmp_path / "data" / "log").write_text("")
    (tmp_path / "data" / "log").chmod(0o666)
    wanted = {**own, "path": str(tmp_path / "data"), "mode": "0750"}
    files.make_directory(wanted)
    assert files.drift(wanted) is None
    assert oct((tmp_path / "data" / "log").stat().st_mode) == "0o100666"


def test_what_a_service_links_to_is_neither_read_nor_changed(
    tmp_path: Path, plugin: Plugin, own: dict[str, str], monkeypatch: pytest.MonkeyPatch
) -> None:
    files, descriptors = plugin("module_utils.files"), plugin("module_utils.descriptors")
    (tmp_path / "roots").mkdir(mode=0o700)
    (tmp_path / "roots/myid").write_text("a secret")
    (tmp_path / "roots/myid").chmod(0o600)
    (tmp_path / "data").mkdir()
    (tmp_path / "data/myid").symlink_to(tmp_path / "roots/myid")
    (tmp_path / "linked").symlink_to("roots")
    file = {**own, "path": str(tmp_path / "data/myid"), "text": "1\n", "mode": "0644"}
    behind = {**file, "path": str(tmp_path / "linked/myid")}
    directory = {**own, "path": str(tmp_path / "linked"), "mode": "0755"}
    made = {**directory, "path": str(tmp_path / "linked/more/yet")}

    assert files.state(file["path"])["text"] == files.read(behind["path"]) == "a secret"
    assert (files.drift({**file, "text": "a secret", "mode": "0600"}), files.drift(made)["attributes"]) == (None, "")

    monkeypatch.setattr(descriptors, "TRUSTED", set())
    refused = pytest.raises(plugin("module_utils.errors").HostRefusedError, match=r"is a symbolic link to .*\ntry: ")
    with refused as caught:
        files.drift(file)
    assert str(caught.value).startswith(f"{tmp_path}/data/myid is a symbolic link to {tmp_path}/roots/myid and belongs")
    for step, wanted in ((files.drift, behind), (files.write, behind), (files.make_directory, directory)):
        with refused:
            step(wanted)
    with refused:
        files.make_directory(made)
    assert files.read(file["path"]) is None
    facts = (tmp_path / "roots/myid").stat()
    assert ((tmp_path / "roots/myid").read_text(), oct(facts.st_mode)) == ("a secret", "0o100600")
    assert (oct((tmp_path / "roots").stat().st_mode), os.listdir(tmp_path / "roots")) == ("0o40700", ["myid"])
    files.write(file)  # it takes the place of the link
    assert ((tmp_path / "data/myid").read_text(), (tmp_path / "data/myid").is_symlink()) == ("1\n", False)
    assert (tmp_path / "roots/myid").read_text() == "a secret"


def test_a_circle_of_links_is_an_error_and_a_pipe_is_not_waited_for(tmp_path: Path, plugin: Plugin) -> None:
    files = plugin("module_utils.files")
    (tmp_path / "a").symlink_to("b")
    (tmp_path / "b").symlink_to("a")
    with pytest.raises(OSError, match="Too many levels of symbolic links"):
        files.state(str(tmp_path / "a"))
    os.mkfifo(tmp_path / "pipe")
    assert files.read(str(tmp_path / "pipe")) == ""
    assert files.state(str(tmp_path / "pipe"))["text"] is None
