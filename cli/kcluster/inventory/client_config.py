"""A client's properties file, in Java's spelling or librdkafka's, translated to what librdkafka understands."""

from __future__ import annotations

import re
from collections.abc import Mapping
from pathlib import Path

from kcluster.errors import UsageError

_JAVA = {
    "ssl.truststore.certificates": "ssl.ca.pem",
    "ssl.keystore.certificate.chain": "ssl.certificate.pem",
    "ssl.keystore.key": "ssl.key.pem",
    "request.timeout.ms": "socket.timeout.ms",
}
"""Java's name -> librdkafka's, where the value stays as it is."""

_JAVA_ONLY = (
    "callback.handler.class",
    "interceptor.classes",
    "config.providers",
    "ssl.engine.factory.class",
    "ssl.provider",
)
"""Endings of Java's names that name Java classes: they cannot be honoured, and must not be dropped silently."""

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
"""Java's names that have no counterpart and change nothing here; --bootstrap and --group say the rest."""

_JAAS = re.compile(r"""(\w+)\s*=\s*(?:"((?:[^"\\]|\\.)*)"|'([^']*)'|([^\s;]+))""")
_SUPPORTED_MODULES = ("PlainLoginModule", "ScramLoginModule")


def properties(path: Path) -> dict[str, str]:
    """The properties of a file, as librdkafka spells them."""
    try:
        written = parse(path.read_text())
    except OSError as problem:
        raise UsageError(
            f"cannot read the client configuration {path}: {problem.strerror}",
            resolution="check the path after --client-config",
        ) from problem
    return translate(written, str(path))


def parse(text: str) -> dict[str, str]:
    """The lines of a Java properties file: `key=value` or `key: value`, `#` and `!` comments, `\\` at a line's end."""
    joined = re.sub(r"\\\r?\n\s*", "", text)
    written = {}
    for line in joined.splitlines():
        stripped = line.strip()
        if stripped and stripped[0] not in "#!":
            key, _, value = (
                stripped.replace(":", "=", 1).partition("=") if _colon_first(stripped) else stripped.partition("=")
            )
            written[key.strip()] = value.strip()
    return written


def translate(written: Mapping[str, str], file: str) -> dict[str, str]:
    """Java's names in librdkafka's words; names librdkafka knows itself go through."""
    translated: dict[str, str] = {}
    for key, value in written.items():
        if key.endswith(_JAVA_ONLY):
            raise UsageError(
                f"{file}: {key} needs Java, which this client is not made of",
                resolution="remove the line, or use a property of librdkafka",
            )
        if key == "sasl.jaas.config":
            translated |= _credentials(value, file)
        elif key == "ssl.endpoint.identification.algorithm":
            translated[key] = value.lower() or "none"
        elif key == "ssl.keystore.location":
            translated |= _keystore(value)
        elif key == "ssl.truststore.location":
            translated |= {"ssl.ca.location": _pem(value, file)}
        elif key not in _UNUSED:
            translated[_JAVA.get(key, key)] = value
    return translated


def _colon_first(line: str) -> bool:
    colon, equals = line.find(":"), line.find("=")
    return colon >= 0 and (equals < 0 or colon < equals)


def _credentials(jaas: str, file: str) -> dict[str, str]:
    """User and password out of a JAAS line."""
    module = jaas.split()[0].rpartition(".")[2] if jaas.split() else ""
    if module not in _SUPPORTED_MODULES:
        raise UsageError(
            f"{file}: sasl.jaas.config with {module or 'nothing'} is not supported",
            resolution="use PlainLoginModule or ScramLoginModule, or librdkafka's own sasl.* properties",
        )
    found = {name: quoted or single or bare for name, quoted, single, bare in _JAAS.findall(jaas)}
    if not found.get("username") or "password" not in found:
        raise UsageError(
            f"{file}: sasl.jaas.config names no username and password", resolution='add username="..." password="..."'
        )
    return {"sasl.username": found["username"], "sasl.password": re.sub(r"\\(.)", r"\1", found["password"])}


def _keystore(location: str) -> dict[str, str]:
    """A PEM file holds certificate and key; anything else is PKCS#12, which librdkafka reads itself."""
    if location.endswith(".pem"):
        return {"ssl.certificate.location": location, "ssl.key.location": location}
    return {"ssl.keystore.location": location}


def _pem(location: str, file: str) -> str:
    """librdkafka reads certificates of authorities from PEM only."""
    if location.endswith((".jks", ".p12", ".pfx", ".pkcs12")):
        raise UsageError(
            f"{file}: the truststore {location} is not PEM, which clients outside Java need",
            resolution=f"export it with keytool -exportcert -rfc -keystore {location}, then name the PEM file",
        )
    return location
