"""Host keys that are known, read and judged as ssh(1) does, and the line that makes a right one known."""

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
    """A host shows a key that nobody has said to be its own."""

    way: SshRoute | None = None
    """The way to the host; none in an error that speaks for several."""


def ways_out(problems: Mapping[str, KclusterError]) -> dict[str, str]:
    """What to do about each host's problem; hosts whose keys go into one file by one line share that line."""
    ways = [problem.way for problem in problems.values() if isinstance(problem, UnknownKeyError) and problem.way]

    def way_out(problem: KclusterError) -> str:
        if not isinstance(problem, UnknownKeyError) or not problem.way:
            return problem.resolution
        own = problem.way
        return _scan(*(way for way in ways if (way.port, _file(way)) == (own.port, _file(own))))

    return {name: way_out(problem) for name, problem in problems.items()}


def known(way: SshRoute) -> tuple[KnownHosts, ...]:
    """Every key that is known for a host."""
    return tuple(found for file in way.known_hosts for found in _of_file(file, way.known_as))


def judge(way: SshRoute, kind: str, key: bytes, keys: tuple[KnownHosts, ...]) -> None:
    """Go on with a host that shows the key it is known by; a changed, revoked or unknown key is refused."""
    same = [each for each in keys if each.key == key]
    if any(each.revoked for each in same):
        raise UnreachableError(
            f"{way.name}: its host key is marked @revoked in {same[0].file}", resolution="give the host a new key"
        )
    if same or way.strict == "no":
        return
    if keys:
        raise _changed(way, kind, key, keys[0].file)
    if way.strict != "accept-new":
        raise _unknown(way, kind, key)
    _remember(way, kind, key)


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
        if _meant(words[0], name):
            return KnownHosts(words[1], base64.b64decode(words[2]), file, mark == "@revoked")
    except ValueError:  # a broken line is none, as with ssh
        pass
    return None


def _meant(patterns: str, name: str) -> bool:
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


def _authority(way: SshRoute) -> str:
    """The file that trusts whatever key an authority has signed for the host; empty when there is none."""
    for file in way.known_hosts:
        for words in map(str.split, _lines(file)):
            with suppress(ValueError):
                if words[:1] == ["@cert-authority"] and len(words) > 3 and _meant(words[1], way.known_as):
                    return file
    return ""


def _file(way: SshRoute) -> str:
    return way.known_hosts[0] if way.known_hosts else str(Path.home() / ".ssh/known_hosts")


def _scan(way: SshRoute, *others: SshRoute) -> str:
    port = "" if way.port == 22 else f"-p {way.port} "
    folder = Path(_file(way)).parent
    make = "" if folder.is_dir() else f"mkdir -p -m 700 {quote(str(folder))} && "
    addresses = dict.fromkeys(quote(each.address) for each in (way, *others))
    return f"{make}ssh-keyscan -H {port}{' '.join(addresses)} >> {quote(_file(way))}"


def _unknown(way: SshRoute, kind: str, key: bytes) -> UnknownKeyError:
    shown = f"it shows {kind} {fingerprint(key)}; compare this with the host's own: ssh-keygen -lf /etc/ssh/...pub"
    authority = _authority(way)
    signed = f"\n{authority} trusts an authority for it (@cert-authority), and kcluster reads no host certificates"
    problem = UnknownKeyError(
        f"{way.name}: the host key of {way.door} is not known",
        details=shown + (signed if authority else ""),
        resolution=_scan(way),
    )
    problem.way = way
    return problem


def _changed(way: SshRoute, kind: str, key: bytes, file: str) -> UnreachableError:
    return UnreachableError(
        f"{way.name}: the host key of {way.door} has changed: reinstalled, or somebody else answers",
        details=f"it shows {kind} {fingerprint(key)}, and {file} knows another key for it",
        resolution=f"if that is right: ssh-keygen -f {quote(file)} -R {quote(way.known_as)} && {_scan(way)}",
    )


def _remember(way: SshRoute, kind: str, key: bytes) -> None:
    """Keep a new key; where that is not possible, the host is entered all the same, as with ssh."""
    if not way.known_hosts:
        return
    with suppress(OSError):
        Path(_file(way)).parent.mkdir(mode=0o700, parents=True, exist_ok=True)
        with open(_file(way), "a") as file:
            file.write(f"{way.known_as} {kind} {base64.b64encode(key).decode()}\n")
