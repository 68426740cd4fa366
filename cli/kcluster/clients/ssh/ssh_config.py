"""The route to a host: address, port, user, keys and jump hosts, as `ssh -G` resolves them from the configuration."""

from __future__ import annotations

import os
import pwd
import re
import subprocess
from dataclasses import dataclass, field

from kcluster.clients.ssh.login import Login
from kcluster.errors import InventoryError, UsageError

_CONNECT_SECONDS = 5.0
_STANDARD_KEYS = re.compile(r"/\.ssh/id_(rsa|ecdsa|ecdsa_sk|ed25519|ed25519_sk|xmss|dsa)$")


@dataclass(frozen=True)
class SshRoute:
    """Everything that is needed to connect to one host."""

    name: str
    """The name in errors: the host's in the inventory, or the jump host's address."""
    address: str
    port: int
    user: str
    known_as: str
    """The name under which its key is looked up."""
    key_files: tuple[str, ...] = ()
    only_key_files: bool = False
    """Whether other keys of the agent are not offered."""
    agent: str = ""
    """The socket of the agent; empty without an agent."""
    known_hosts: tuple[str, ...] = ()
    """The files of known host keys; new keys go into the first."""
    strict: str = "yes"
    """What happens to unknown host keys, in ssh's words: yes, accept-new, no."""
    jump: SshRoute | None = None
    proxy_command: str = ""
    timeout: float = _CONNECT_SECONDS
    password: str = field(default="", repr=False)

    @property
    def endpoint(self) -> str:
        """The address and port, for people."""
        return f"{self.address}:{self.port}"

    @property
    def key_files_are_standard(self) -> bool:
        """Whether no key file was configured: then the agent's keys are tried before the files."""
        return all(_STANDARD_KEYS.search(path) for path in self.key_files)


def route_to(login: Login) -> SshRoute:
    """The route to a host of the inventory; InventoryError when ssh refuses its arguments, UsageError without ssh."""
    settings = {"User": login.user, "Port": login.port, "IdentityFile": login.key_file and f'"{login.key_file}"'}
    options = [word for key, value in settings.items() if value for word in ("-o", f"{key}={value}")]
    return _route(
        login.name, login.address, (*options, *login.arguments), _config_file(login.arguments), login.password
    )


def _route(
    name: str, address: str, arguments: tuple[str, ...], config: tuple[str, ...], password: str = ""
) -> SshRoute:
    settings = _settings(name, (*arguments, address))

    def one(key: str, default: str = "") -> str:
        value = settings.get(key, [default])[0]
        return default if value == "none" else value

    tokens = {"%": "%", "h": one("hostname"), "p": one("port"), "r": one("user"), "n": address, "d": _home()}
    tokens["u"] = pwd.getpwuid(os.getuid()).pw_name
    jump = one("proxyjump")
    return SshRoute(
        name=name,
        address=one("hostname"),
        port=int(one("port")),
        user=one("user"),
        known_as=_known_as(one("hostkeyalias"), one("hostname"), int(one("port"))),
        key_files=tuple(_path(path, tokens) for path in settings.get("identityfile", []) if path != "none"),
        only_key_files=one("identitiesonly") == "yes",
        agent=_agent(settings.get("identityagent", ["SSH_AUTH_SOCK"])[0], tokens),
        known_hosts=tuple(
            _path(path, tokens)
            for key in ("userknownhostsfile", "globalknownhostsfile")
            for path in settings.get(key, [""])[0].split()
            if path not in ("none", "/dev/null")
        ),
        strict={"false": "no", "off": "no", "no": "no", "accept-new": "accept-new"}.get(
            one("stricthostkeychecking"), "yes"
        ),
        jump=_jump(name, jump, config) if jump else None,
        proxy_command="" if jump else _filled(one("proxycommand"), tokens),
        timeout=float(one("connecttimeout", str(_CONNECT_SECONDS))),
        password=password,
    )


def _jump(name: str, jumps: str, config: tuple[str, ...]) -> SshRoute:
    """The last jump host, routed through those before it. Only the ssh configuration applies to them, as with ssh."""
    *before, last = jumps.split(",")
    first = ("-J", ",".join(before)) if before else ()
    matched = re.fullmatch(r"(?:ssh://)?(?:(.+)@)?(\[.+\]|[^:]+)(?::(\d+))?/?", last)
    if not matched:
        raise InventoryError(f"{name}: {last} is not a jump host", resolution="write it as user@host:port")
    user, host, port = matched.groups()
    options = [word for flag, value in (("-l", user), ("-p", port)) if value for word in (flag, value)]
    return _route(f"{host.strip('[]')} (jump host)", host.strip("[]"), (*config, *first, *options), config)


def _settings(name: str, arguments: tuple[str, ...]) -> dict[str, list[str]]:
    """What `ssh -G` prints, by key; some keys have several lines."""
    try:
        done = subprocess.run(
            ["ssh", "-G", *arguments], stdin=subprocess.DEVNULL, capture_output=True, text=True, check=False
        )
    except FileNotFoundError as problem:
        raise UsageError("this machine has no ssh", resolution="apt-get install openssh-client") from problem
    if done.returncode:
        raise InventoryError(
            f"ssh refuses its arguments for {name}",
            details=done.stderr.strip(),
            resolution=f"correct ansible_ssh_common_args of {name}, or ~/.ssh/config",
        )
    settings: dict[str, list[str]] = {}
    for line in done.stdout.splitlines():
        key, _, value = line.partition(" ")
        settings.setdefault(key, []).append(value)
    return settings


def _agent(setting: str, tokens: dict[str, str]) -> str:
    """The agent's socket: a path, or the name of a variable that has one."""
    if setting == "none":
        return ""
    if setting == "SSH_AUTH_SOCK" or setting.startswith("$"):
        return os.environ.get(setting.removeprefix("$"), "")
    return _path(setting, tokens)


def _known_as(alias: str, address: str, port: int) -> str:
    return alias or (address if port == 22 else f"[{address}]:{port}")


def _config_file(arguments: tuple[str, ...]) -> tuple[str, ...]:
    """The `-F FILE` among the arguments: it applies to jump hosts too."""
    for place, word in enumerate(arguments):
        if word == "-F" and place + 1 < len(arguments):
            return word, arguments[place + 1]
        if word.startswith("-F") and len(word) > 2:
            return (word,)
    return ()


def _path(path: str, tokens: dict[str, str]) -> str:
    return re.sub(r"^~(?=/)", _home(), _filled(path, tokens))


def _filled(text: str, tokens: dict[str, str]) -> str:
    return re.sub("%(.)", lambda found: tokens.get(found[1], found[0]), text)


def _home() -> str:
    """The home that ssh uses: the account's, not $HOME."""
    return pwd.getpwuid(os.getuid()).pw_dir
