"""Host keys: what is known, and what happens with what is not."""

from __future__ import annotations

import base64
import subprocess
from pathlib import Path

import pytest

from kcluster.clients.ssh.host_keys import UnknownKeyError, judge, known, ways_out
from kcluster.clients.ssh.ssh_config import SshRoute
from kcluster.errors import KclusterError, UnreachableError

KEY, OTHER = b"the key", b"another key"
KIND = "ssh-ed25519"


def line(names: str, key: bytes = KEY, mark: str = "") -> str:
    return f"{mark}{names} {KIND} {base64.b64encode(key).decode()}\n"


def a_way(file: Path, *, port: int = 22, strict: str = "yes") -> SshRoute:
    name = "10.0.0.1" if port == 22 else f"[10.0.0.1]:{port}"
    return SshRoute("h1", "10.0.0.1", port, "root", name, known_hosts=(str(file), "/nonexistent"), strict=strict)


def shown(way: SshRoute, key: bytes = KEY) -> None:
    judge(way, KIND, key, known(way))


@pytest.fixture
def file(tmp_path: Path) -> Path:
    return tmp_path / "known_hosts"


@pytest.mark.parametrize("names", ["10.0.0.1", "h1,10.0.0.1", "10.0.0.*", "10.0.0.?,!10.0.0.2"])
def test_a_known_key_is_found_however_its_host_is_written(file: Path, names: str) -> None:
    file.write_text(
        "# a comment\n\nbroken\n10.0.0.1 ssh-ed25519 abc\n|1|x|y ssh-ed25519 abc\n"
        + line("10.0.0.9", OTHER)
        + line(names)
    )
    shown(a_way(file))


def test_hashed_names_and_ports_are_found(file: Path) -> None:
    file.write_text(line("10.0.0.1") + line("[10.0.0.1]:2222", OTHER))
    subprocess.run(["ssh-keygen", "-q", "-H", "-f", file], check=True, capture_output=True)
    assert "10.0.0.1" not in file.read_text()
    shown(a_way(file))
    shown(a_way(file, port=2222), OTHER)
    with pytest.raises(UnreachableError, match="has changed"):
        shown(a_way(file, port=2222), KEY)


@pytest.mark.parametrize("names", ["10.0.0.2", "!10.0.0.1,10.0.0.*", "[10.0.0.1]:2222", "@cert-authority 10.0.0.1"])
def test_an_unknown_key_is_refused_with_the_line_that_makes_it_known(file: Path, names: str) -> None:
    file.write_text(line(names))
    with pytest.raises(UnreachableError, match="not known") as caught:
        shown(a_way(file))
    assert caught.value.resolution == f"ssh-keyscan -H 10.0.0.1 >> {file}"
    assert "SHA256:" in caught.value.details


def test_an_authority_that_is_trusted_for_the_host_is_told_because_its_signature_is_not_read(file: Path) -> None:
    file.write_text(line("10.0.0.*", OTHER, "@cert-authority "))
    with pytest.raises(UnreachableError, match="not known") as caught:
        shown(a_way(file))
    assert caught.value.details.splitlines()[1:] == [
        f"{file} trusts an authority for it (@cert-authority), and kcluster reads no host certificates"
    ]
    file.write_text(line("10.0.0.9", OTHER, "@cert-authority "))
    with pytest.raises(UnreachableError) as caught:
        shown(a_way(file))
    assert "authority" not in caught.value.details


def test_a_changed_key_is_refused_with_the_lines_that_replace_it(file: Path) -> None:
    file.write_text(line("[10.0.0.1]:2222"))
    with pytest.raises(UnreachableError, match="has changed") as caught:
        shown(a_way(file, port=2222), OTHER)
    assert caught.value.resolution == (
        f"if that is right: ssh-keygen -f {file} -R '[10.0.0.1]:2222' && ssh-keyscan -H -p 2222 10.0.0.1 >> {file}"
    )
    with pytest.raises(UnreachableError, match="has changed"):
        shown(a_way(file, port=2222, strict="accept-new"), OTHER)
    shown(a_way(file, port=2222, strict="no"), OTHER)


def test_a_revoked_key_is_refused_even_without_checking(file: Path) -> None:
    file.write_text(line("10.0.0.1", mark="@revoked "))
    with pytest.raises(UnreachableError, match="revoked"):
        shown(a_way(file, strict="no"))


def test_accept_new_keeps_the_key(tmp_path: Path) -> None:
    file = tmp_path / "not" / "there"
    with pytest.raises(UnreachableError) as caught:
        shown(a_way(file))
    assert caught.value.resolution == f"mkdir -p -m 700 {file.parent} && ssh-keyscan -H 10.0.0.1 >> {file}"
    shown(a_way(file, strict="accept-new"))
    shown(a_way(file))
    assert file.read_text() == line("10.0.0.1")


def test_unknown_keys_of_several_hosts_are_made_known_by_one_line_for_each_port(tmp_path: Path) -> None:
    file = tmp_path / "known_hosts"
    ways = {f"h{n}": SshRoute(f"h{n}", f"10.0.0.{n}", 22, "root", "", known_hosts=(str(file),)) for n in (1, 2)}
    ways["h3"] = SshRoute("h3", "10.0.0.3", 2222, "root", "", known_hosts=(str(file),))
    problems: dict[str, KclusterError] = {"h4": UnreachableError("it is off", resolution="switch it on")}
    for name, way in ways.items():
        with pytest.raises(UnknownKeyError) as caught:
            shown(way)
        problems[name] = caught.value
    told = ways_out(problems)
    assert told == {
        "h1": f"ssh-keyscan -H 10.0.0.1 10.0.0.2 >> {file}",
        "h2": f"ssh-keyscan -H 10.0.0.1 10.0.0.2 >> {file}",
        "h3": f"ssh-keyscan -H -p 2222 10.0.0.3 >> {file}",
        "h4": "switch it on",
    }
