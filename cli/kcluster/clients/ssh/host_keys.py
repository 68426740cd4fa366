"""Known host keys, read and compared as ssh(1) does, and the command that adds an unknown one."""

from __future__ import annotations

import base64
import hashlib
import hmac
from collections.abc import Iterator, Mapping
from contextlib import suppress
from dataclasses import dataclass
from fnmatch import fnmatchcase
from pathlib import Path
from shlex import quote

from kcluster.clients.ssh.ssh_config import SshRoute
from kcluster.errors import KclusterError, UnreachableError


@dataclass(frozen=True)
class KnownHosts:
    """One key that a file knows for a host."""

    kind: str
    key: bytes
    file: str
    revoked: bool = False


class UnknownKeyError(UnreachableError):
    """The key of a host is in no known_hosts file."""

    route: SshRoute | None = None
    """The route to the host; None in an error for several hosts."""


def ways_out(problems: Mapping[str, KclusterError]) -> dict[str, str]:
    """The remedy for each host's problem; hosts whose keys go into one file by one command share that command."""
    routes = [problem.route for problem in problems.values() if isinstance(problem, UnknownKeyError) and problem.route]

    def remedy(problem: KclusterError) -> str:
        if not isinstance(problem, UnknownKeyError) or not problem.route:
            return problem.resolution
        own = problem.route
        return _scan(*(route for route in routes if (route.port, _file(route)) == (own.port, _file(own))))

    return {name: remedy(problem) for name, problem in problems.items()}


def known(route: SshRoute) -> tuple[KnownHosts, ...]:
    """Every key that is known for a host."""
    return tuple(found for file in route.known_hosts for found in _of_file(file, route.known_as))


def judge(route: SshRoute, kind: str, key: bytes, keys: tuple[KnownHosts, ...]) -> None:
    """Accept a known key; UnreachableError for a changed or revoked one, UnknownKeyError for an unknown one.

    An unknown key is accepted with StrictHostKeyChecking accept-new, which records it, and no.
    """
    same = [each for each in keys if each.key == key]
    if any(each.revoked for each in same):
        raise UnreachableError(
            f"{route.name}: its host key is marked @revoked in {same[0].file}", resolution="give the host a new key"
        )
    if same or route.strict == "no":
        return
    if keys:
        raise _changed(route, kind, key, keys[0].file)
    if route.strict != "accept-new":
        raise _unknown(route, kind, key)
    _remember(route, kind, key)


def fingerprint(key: bytes) -> str:
    """A key as ssh-keygen -l shows it."""
    return "SHA256:" + base64.b64encode(hashlib.sha256(key).digest()).decode().rstrip("=")


def _of_file(file: str, name: str) -> Iterator[KnownHosts]:
    yield from (found for line in _lines(file) if (found := _of_line(line, file, name)))


def _lines(file: str) -> list[str]:
    try:
        return Path(file).read_text(errors="replace").splitlines()
    except OSError:  # ssh also takes a file it cannot read for an empty one
        return []


def _of_line(line: str, file: str, name: str) -> KnownHosts | None:
    words = line.split()
    mark = words.pop(0) if words and words[0].startswith("@") else ""
    # Keys of certificate authorities are not host keys; host certificates are not read.
    if mark not in ("", "@revoked") or len(words) < 3 or words[0].startswith("#"):
        return None
    try:
        if _matches(words[0], name):
            return KnownHosts(words[1], base64.b64decode(words[2]), file, mark == "@revoked")
    except ValueError:  # a broken line is none, as with ssh
        pass
    return None


def _matches(patterns: str, name: str) -> bool:
    """Whether the first word of a line names the host: plainly, hashed, or with wildcards."""
    if patterns.startswith("|1|"):
        salt, digest = (base64.b64decode(part) for part in patterns.split("|")[2:4])
        return hmac.compare_digest(hmac.new(salt, name.encode(), "sha1").digest(), digest)
    found = False
    for pattern in patterns.lower().split(","):
        # Only * and ? are wildcards here; a bracket belongs to [host]:port.
        if fnmatchcase(name.lower(), pattern.removeprefix("!").replace("[", "[[]")):
            if pattern.startswith("!"):
                return False
            found = True
    return found


def _authority(route: SshRoute) -> str:
    """The file that trusts whatever key an authority has signed for the host; empty when there is none."""
    for file in route.known_hosts:
        for words in map(str.split, _lines(file)):
            with suppress(ValueError):
                if words[:1] == ["@cert-authority"] and len(words) > 3 and _matches(words[1], route.known_as):
                    return file
    return ""


def _file(route: SshRoute) -> str:
    return route.known_hosts[0] if route.known_hosts else str(Path.home() / ".ssh/known_hosts")


def _scan(route: SshRoute, *others: SshRoute) -> str:
    port = "" if route.port == 22 else f"-p {route.port} "
    folder = Path(_file(route)).parent
    make = "" if folder.is_dir() else f"mkdir -p -m 700 {quote(str(folder))} && "
    addresses = dict.fromkeys(quote(each.address) for each in (route, *others))
    return f"{make}ssh-keyscan -H {port}{' '.join(addresses)} >> {quote(_file(route))}"


def _unknown(route: SshRoute, kind: str, key: bytes) -> UnknownKeyError:
    shown = f"it shows {kind} {fingerprint(key)}; compare this with the host's own: ssh-keygen -lf /etc/ssh/...pub"
    authority = _authority(route)
    signed = f"\n{authority} trusts an authority for it (@cert-authority), and kcluster reads no host certificates"
    problem = UnknownKeyError(
        f"{route.name}: the host key of {route.endpoint} is not known",
        details=shown + (signed if authority else ""),
        resolution=_scan(route),
    )
    problem.route = route
    return problem


def _changed(route: SshRoute, kind: str, key: bytes, file: str) -> UnreachableError:
    return UnreachableError(
        f"{route.name}: the host key of {route.endpoint} has changed: reinstalled, or another host answers",
        details=f"it shows {kind} {fingerprint(key)}, and {file} knows another key for it",
        resolution=f"if that is right: ssh-keygen -f {quote(file)} -R {quote(route.known_as)} && {_scan(route)}",
    )


def _remember(route: SshRoute, kind: str, key: bytes) -> None:
    """Record a new key; where that fails, the connection goes on, as with ssh."""
    if not route.known_hosts:
        return
    with suppress(OSError):
        Path(_file(route)).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(_file(route), "a") as file:
            file.write(f"{route.known_as} {kind} {base64.b64encode(key).decode()}\n")
