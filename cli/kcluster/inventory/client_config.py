"""Client properties, with the names of Java clients or librdkafka, translated for librdkafka."""

from __future__ import annotations

import re
import textwrap
from collections.abc import Iterator, Mapping
from pathlib import Path

from kcluster.config.jaas import Jaas
from kcluster.errors import UsageError
from kcluster.model.client import Client

_JAVA = {"request.timeout.ms": "socket.timeout.ms"}
"""Java's name -> librdkafka's, where the value stays as it is."""

_JAVA_PEM = {
    "ssl.truststore.certificates": "ssl.ca.pem",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
}
"""Java's name -> librdkafka's, where the value is PEM: Java takes it on one line as well."""

_JAVA_ONLY = (
    "callback.handler.class",
    "interceptor.classes",
    "config.providers",
    "ssl.engine.factory.class",
    "ssl.provider",
)
"""Endings of properties that name Java classes: they cannot be supported, and must not be ignored silently."""

_UNUSED = (
    "bootstrap.servers",
    "ssl.truststore.type",
    "ssl.truststore.password",
    "ssl.keystore.type",
    "ssl.protocol",
    "ssl.enabled.protocols",
    "key.serializer",
    "value.serializer",
    "key.deserializer",
    "value.deserializer",
    "client.dns.lookup",
)
"""Java properties without a counterpart in librdkafka, ignored; --bootstrap and --group set the rest."""

_FILES = ("ssl.ca.location", "ssl.certificate.location", "ssl.key.location", "ssl.keystore.location")

_SUPPORTED_MODULES = ("PlainLoginModule", "ScramLoginModule")

_LINE = re.compile(r"((?:\\.|[^\\\s=:])*)\s*[=:]?\s*(.*)", re.S)
_ESCAPE = re.compile(r"\\(u[0-9A-Fa-f]{4}|.)", re.S)
_CONTROL = {"t": "\t", "n": "\n", "r": "\r", "f": "\f"}

_PEM = re.compile(r"-----BEGIN ([A-Z0-9 ]+)-----(.*?)-----END \1-----", re.S)


def read(path: Path) -> Client:
    """The properties of a file; UsageError when it cannot be read."""
    try:
        return Client(parse(path.read_text()), str(path))
    except (OSError, UnicodeDecodeError) as problem:
        reason = problem.strerror if isinstance(problem, OSError) else "it is not text"
        raise UsageError(
            f"cannot read the client configuration {path}: {reason}",
            resolution="check the path after --client-config",
        ) from problem


def parse(text: str) -> dict[str, str]:
    """The properties of a Java properties file."""
    written = {}
    for line in _logical(text):
        if found := _LINE.fullmatch(line):
            written[_unescaped(found[1])] = _unescaped(found[2])
    return written


def librdkafka(client: Client) -> dict[str, str]:
    """The properties with librdkafka's names; UsageError for those that need Java or cannot be read."""
    translated: dict[str, str] = {}
    for key, value in client.written.items():
        if key.endswith(_JAVA_ONLY):
            raise UsageError(
                f"{client.origin}: {key} needs a Java client, but kcluster uses librdkafka",
                resolution="remove it, or use a property of librdkafka",
            )
        if key == "sasl.jaas.config":
            translated |= _credentials(value, client.origin)
        elif key == "ssl.endpoint.identification.algorithm":
            translated[key] = value.lower() or "none"
        elif key == "ssl.keystore.location":
            translated |= _keystore(client.written)
        elif key == "ssl.truststore.location":
            translated |= {"ssl.ca.location": _truststore(value, client.origin)}
        elif key in _JAVA_PEM:
            translated[_JAVA_PEM[key]] = pem(value)
        elif key not in _UNUSED:
            translated[_JAVA.get(key, key)] = value
    for key in translated.keys() & set(_FILES):
        _refuse_unreadable(translated[key], client.origin)
    return translated


def pem(text: str, kind: str = "") -> str:
    """The PEM blocks whose name contains `kind`, with lines of 64 characters for OpenSSL."""
    blocks = ((name, "".join(body.split())) for name, body in _PEM.findall(text) if kind in name)
    wrapped = ((name, "\n".join(textwrap.wrap(body, 64))) for name, body in blocks)
    return "".join(f"-----BEGIN {name}-----\n{body}\n-----END {name}-----\n" for name, body in wrapped)


def is_pem(written: Mapping[str, str]) -> bool:
    """Whether the key and certificate of a client are in a PEM file."""
    kind = written.get("ssl.keystore.type", "").upper()
    return kind == "PEM" or (not kind and written.get("ssl.keystore.location", "").endswith(".pem"))


def _logical(text: str) -> Iterator[str]:
    """Lines without comments and empty ones; a backslash at the end takes in the next line."""
    begun = ""
    for line in text.splitlines():
        stripped = line.lstrip()
        if not begun and (not stripped or stripped[0] in "#!"):
            continue
        begun += stripped
        if (len(begun) - len(begun.rstrip("\\"))) % 2:
            begun = begun[:-1]
            continue
        yield begun
        begun = ""
    if begun:
        yield begun


def _unescaped(text: str) -> str:
    def character(found: re.Match[str]) -> str:
        escape = found[1]
        return chr(int(escape[1:], 16)) if len(escape) > 1 else _CONTROL.get(escape, escape)

    return _ESCAPE.sub(character, text)


def _credentials(jaas: str, origin: str) -> dict[str, str]:
    """User and password from a JAAS line; UsageError does not show the line, as it contains the password."""
    found = Jaas.of(jaas)
    if found is None:
        raise UsageError(
            f"{origin}: sasl.jaas.config cannot be read",
            resolution="write it on one line: org.apache.kafka.common.security.plain.PlainLoginModule required "
            'username="..." password="..."; with \\" and \\\\ for " and \\ inside',
        )
    if (module := found.module.rpartition(".")[2]) not in _SUPPORTED_MODULES:
        raise UsageError(
            f"{origin}: sasl.jaas.config with {module} is not supported",
            resolution="use PlainLoginModule or ScramLoginModule, or librdkafka's own sasl.* properties",
        )
    options = found.options
    if not options.get("username") or "password" not in options:
        raise UsageError(
            f"{origin}: sasl.jaas.config has no username or password", resolution='add username="..." password="..."'
        )
    return {"sasl.username": options["username"], "sasl.password": options["password"]}


def _keystore(written: Mapping[str, str]) -> dict[str, str]:
    """A PEM file has certificate and key; anything else is PKCS#12, which librdkafka reads."""
    location = written["ssl.keystore.location"]
    if is_pem(written):
        return {"ssl.certificate.location": location, "ssl.key.location": location}
    return {"ssl.keystore.location": location}


def _truststore(location: str, origin: str) -> str:
    """librdkafka reads certificates of authorities from PEM only."""
    if location.endswith((".jks", ".p12", ".pfx", ".pkcs12")):
        raise UsageError(
            f"{origin}: the truststore {location} is not PEM, which librdkafka needs",
            resolution=f"export it with keytool -exportcert -rfc -keystore {location}, then use the PEM file",
        )
    return location


def _refuse_unreadable(location: str, origin: str) -> None:
    try:
        if not Path(location).is_dir():  # OpenSSL takes a folder of certificates too
            with open(location, "rb") as file:
                file.read(1)
    except OSError as problem:
        raise UsageError(
            f"{origin}: cannot read {location}: {problem.strerror}", resolution="correct the path or its permissions"
        ) from problem
