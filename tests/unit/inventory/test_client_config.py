"""Java's client properties in librdkafka's words."""

from __future__ import annotations

from pathlib import Path

import pytest

from kcluster.errors import UsageError
from kcluster.inventory.client_config import librdkafka, parse, pem, read
from kcluster.model.client import Client


def translate(**written: str) -> dict[str, str]:
    return librdkafka(Client({key.replace("_", "."): value for key, value in written.items()}, "client.properties"))


def test_a_java_file_is_translated(tmp_path: Path) -> None:
    authority = tmp_path / "ca.pem"
    authority.touch()
    path = tmp_path / "client.properties"
    path.write_text(
        "# how we connect\n"
        "security.protocol=SASL_SSL\n"
        "sasl.mechanism: SCRAM-SHA-512\n"
        "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\\n"
        '    username="alice" password="se\\\\"cret";\n'
        "ssl.truststore.type=PEM\n"
        f"ssl.truststore.location={authority}\n"
        "ssl.endpoint.identification.algorithm=\n"
    )
    assert librdkafka(read(path)) == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "alice",
        "sasl.password": 'se"cret',
        "ssl.ca.location": str(authority),
        "ssl.endpoint.identification.algorithm": "none",
    }


@pytest.mark.parametrize(
    ("text", "read_as"),
    [
        ("! a\n\n a = b = c \n", {"a": "b = c "}),
        ("a\\:b : c\\\\d\\u0041\\te\n", {"a:b": "c\\dA\te"}),
        ("a b\\\n   # c\n#d\\\ne=\n", {"a": "b# c", "e": ""}),
        ("a=b\\\\\nc=d\\", {"a": "b\\", "c": "d"}),
    ],
)
def test_properties_are_read_as_java_reads_them(text: str, read_as: dict[str, str]) -> None:
    assert parse(text) == read_as


def test_librdkafkas_own_names_go_through() -> None:
    assert translate(sasl_username="a", sasl_mechanisms="PLAIN") == {"sasl.username": "a", "sasl.mechanisms": "PLAIN"}


def test_a_keystore_in_pem_holds_both_and_another_one_is_left_to_the_library(tmp_path: Path) -> None:
    both, store = tmp_path / "both.pem", tmp_path / "store.p12"
    both.touch()
    store.touch()
    assert translate(ssl_keystore_location=str(both)) == {
        "ssl.certificate.location": str(both),
        "ssl.key.location": str(both),
    }
    assert translate(ssl_keystore_location=str(store), ssl_keystore_type="PKCS12") == {
        "ssl.keystore.location": str(store)
    }


def test_pem_on_one_line_gets_the_lines_that_openssl_wants() -> None:
    line = f"-----BEGIN CERTIFICATE----- {'a' * 64} bc= -----END CERTIFICATE-----"
    lines = f"-----BEGIN CERTIFICATE-----\n{'a' * 64}\nbc=\n-----END CERTIFICATE-----\n"
    assert translate(ssl_truststore_certificates=line) == {"ssl.ca.pem": lines}
    assert pem(lines * 2) == lines * 2
    assert pem(lines, "PRIVATE KEY") == ""


@pytest.mark.parametrize(
    ("key", "value", "told"),
    [
        ("ssl.truststore.location", "/etc/trust.jks", "is not PEM"),
        ("ssl.truststore.location", "/nowhere/ca.pem", "cannot read /nowhere/ca.pem: No such file"),
        ("sasl.jaas.config", "com.sun.security.auth.module.Krb5LoginModule required;", "Krb5LoginModule"),
        ("sasl.jaas.config", "a.PlainLoginModule required;", "has no username"),
        ("sasl.jaas.config", 'a.PlainLoginModule required username="a" password="hush"b";', "cannot be read"),
        ("sasl.jaas.config", 'a.PlainLoginModule required username="a" password="hush"', "cannot be read"),
        ("sasl.login.callback.handler.class", "acme.Login", "needs a Java client"),
    ],
)
def test_what_cannot_be_translated_is_told_without_the_password(key: str, value: str, told: str) -> None:
    with pytest.raises(UsageError, match=told) as caught:
        librdkafka(Client({key: value}, "client.properties"))
    assert caught.value.message.startswith("client.properties: ")
    assert "hush" not in f"{caught.value.message} {caught.value.resolution}"


@pytest.mark.parametrize(("content", "told"), [(None, "No such file"), (b"\xff\xfe\x00", "it is not text")])
def test_a_file_that_cannot_be_read_is_told(tmp_path: Path, content: bytes | None, told: str) -> None:
    file = tmp_path / "client.jks"
    if content:
        file.write_bytes(content)
    with pytest.raises(UsageError, match=told):
        read(file)
