"""Java's client properties in librdkafka's words."""

from __future__ import annotations

from pathlib import Path

import pytest

from kcluster.errors import UsageError
from kcluster.inventory.client_config import parse, properties, translate


def test_a_java_file_is_translated(tmp_path: Path) -> None:
    path = tmp_path / "client.properties"
    path.write_text(
        "# how we connect\n"
        "security.protocol=SASL_SSL\n"
        "sasl.mechanism: SCRAM-SHA-512\n"
        "sasl.jaas.config=org.apache.kafka.common.security.scram.ScramLoginModule required \\\n"
        '    username="alice" password="se\\"cret";\n'
        "ssl.truststore.type=PEM\n"
        "ssl.truststore.location=/etc/ca.pem\n"
        "ssl.endpoint.identification.algorithm=\n"
    )
    assert properties(path) == {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "SCRAM-SHA-512",
        "sasl.username": "alice",
        "sasl.password": 'se"cret',
        "ssl.ca.location": "/etc/ca.pem",
        "ssl.endpoint.identification.algorithm": "none",
    }


def test_librdkafkas_own_names_go_through() -> None:
    assert translate({"ssl.ca.location": "/ca.pem", "sasl.username": "a"}, "f") == {
        "ssl.ca.location": "/ca.pem",
        "sasl.username": "a",
    }


@pytest.mark.parametrize(
    ("written", "told"),
    [
        ({"ssl.truststore.location": "/etc/trust.jks"}, "is not PEM"),
        ({"sasl.jaas.config": "com.sun.security.auth.module.Krb5LoginModule required;"}, "Krb5LoginModule"),
        ({"sasl.jaas.config": "a.PlainLoginModule required;"}, "names no username"),
        ({"sasl.login.callback.handler.class": "acme.Login"}, "needs Java"),
    ],
)
def test_what_cannot_be_translated_is_told(written: dict[str, str], told: str) -> None:
    with pytest.raises(UsageError, match=told):
        translate(written, "client.properties")


def test_a_file_that_is_not_there_is_told(tmp_path: Path) -> None:
    with pytest.raises(UsageError, match="No such file"):
        properties(tmp_path / "nowhere")


def test_comments_and_empty_lines_are_left_out() -> None:
    assert parse("! a\n\n a = b = c \n") == {"a": "b = c"}
