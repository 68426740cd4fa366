"""The way to a host, as ssh(1) tells it."""

from __future__ import annotations

from pathlib import Path

import pytest

from kcluster.clients.ssh.login import Login
from kcluster.clients.ssh.ssh_config import route_to
from kcluster.errors import InventoryError, UsageError


def config(folder: Path, text: str) -> tuple[str, str]:
    file = folder / "config"
    file.write_text(text)
    return "-F", str(file)


def test_the_inventory_wins_over_arguments_and_these_over_the_configuration(tmp_path: Path) -> None:
    said = config(tmp_path, "Host far\n  HostName 10.9.8.7\n  Port 2022\n  User nobody\n  IdentityFile /there\n")
    found = route_to(Login("h1", "far", arguments=said))
    assert (found.address, found.port, found.user) == ("10.9.8.7", 2022, "nobody")
    assert (found.key_files, found.known_as) == (("/there",), "[10.9.8.7]:2022")
    found = route_to(Login("h1", "far", arguments=(*said, "-p", "2023", "-o", "User=them")))
    assert (found.port, found.user) == (2023, "them")
    found = route_to(Login("h1", "far", 22, "me", "/a key", arguments=(*said, "-p", "2023")))
    assert (found.endpoint, found.user, found.key_files[0]) == ("10.9.8.7:22", "me", "/a key")


def test_everything_about_trust_is_understood(tmp_path: Path) -> None:
    text = "UserKnownHostsFile ~/a /b/%h\nGlobalKnownHostsFile none\nStrictHostKeyChecking accept-new\n"
    found = route_to(
        Login("h1", "h1.example", arguments=config(tmp_path, text + "HostKeyAlias other\nIdentitiesOnly yes"))
    )
    assert found.known_hosts[1] == "/b/h1.example"
    assert found.known_hosts[0].startswith("/")
    assert (found.strict, found.known_as, found.only_key_files) == ("accept-new", "other", True)
    plain = route_to(Login("h1", "h1.example", arguments=("-F", "/dev/null")))
    assert (plain.strict, plain.timeout, plain.key_files_are_standard, plain.jump) == ("yes", 5.0, True, None)
    loose = route_to(Login("h1", "h1.example", arguments=("-F", "/dev/null", "-o", "StrictHostKeyChecking=no")))
    assert loose.strict == "no"


def test_jump_hosts_are_entered_one_through_the_other_by_the_configuration_alone(tmp_path: Path) -> None:
    said = config(tmp_path, "Host one\n  HostName 10.0.0.1\nHost two\n  HostName 10.0.0.2\n  User second\n")
    found = route_to(Login("h1", "10.0.0.3", 99, "third", arguments=(*said, "-J", "first@one:2201,two")))
    assert found.jump
    assert (found.jump.endpoint, found.jump.user) == ("10.0.0.2:22", "second")
    assert found.jump.jump
    assert (found.jump.jump.endpoint, found.jump.jump.user, found.jump.jump.jump) == ("10.0.0.1:2201", "first", None)


def test_a_proxy_command_is_filled_in(tmp_path: Path) -> None:
    said = config(tmp_path, "ProxyCommand nc %h %p %r %%\n")
    assert route_to(Login("h1", "10.0.0.3", 99, "me", arguments=said)).proxy_command == "nc 10.0.0.3 99 me %"


@pytest.mark.parametrize(
    ("written", "socket"),
    [
        ("", "/run/usual"),
        ("IdentityAgent SSH_AUTH_SOCK", "/run/usual"),
        ("IdentityAgent $OTHER_SOCK", "/run/other"),
        ("IdentityAgent $UNSET_SOCK", ""),
        ("IdentityAgent /run/%h.sock", "/run/far.sock"),
        ('IdentityAgent "/run/my agent"', "/run/my agent"),
        ("IdentityAgent none", ""),
    ],
)
def test_the_agent_is_the_one_that_the_configuration_names(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, written: str, socket: str
) -> None:
    monkeypatch.setenv("SSH_AUTH_SOCK", "/run/usual")
    monkeypatch.setenv("OTHER_SOCK", "/run/other")
    monkeypatch.delenv("UNSET_SOCK", raising=False)
    assert route_to(Login("h1", "far", arguments=config(tmp_path, f"{written}\n"))).agent == socket


def test_arguments_that_ssh_does_not_know_are_refused_with_its_own_words() -> None:
    with pytest.raises(InventoryError, match="h1") as caught:
        route_to(Login("h1", "far", arguments=("-o", "Colour=green")))
    assert "colour" in caught.value.details.lower()


def test_without_ssh_it_says_what_to_install(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("PATH", "/nonexistent")
    with pytest.raises(UsageError, match="no ssh") as caught:
        route_to(Login("h1", "far"))
    assert caught.value.resolution == "apt-get install openssh-client"
