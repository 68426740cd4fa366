"""How a job logs in: what its file says, for Java and for librdkafka."""

from __future__ import annotations

from pathlib import Path

import pytest

from kcluster.errors import UsageError
from kcluster.jobs.client_security import client_settings, without_secrets
from kcluster.model.client import Client

CERTIFICATE = "-----BEGIN CERTIFICATE-----\nYQ==\n-----END CERTIFICATE-----\n"
KEY = "-----BEGIN PRIVATE KEY-----\nYg==\n-----END PRIVATE KEY-----\n"
LOGIN = 'org.apache.kafka.common.security.plain.PlainLoginModule required username="alice" password="hush";'


def test_who_says_nothing_gets_nothing() -> None:
    assert client_settings(Client()) == {}


def test_certificates_go_along_for_java_and_stay_files_for_librdkafka(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("ca.pem").write_text(f"CN=somebody\n{CERTIFICATE}")
    Path("me.pem").write_text(KEY + CERTIFICATE)
    written = {
        "bootstrap.servers": "elsewhere:1",
        "security.protocol": "SSL",
        "ssl.truststore.location": "ca.pem",
        "ssl.truststore.password": "needless",
        "ssl.keystore.location": "me.pem",
        "sasl.jaas.config": LOGIN,
    }
    told = client_settings(Client(written, "client.properties"))
    assert told["java"] == {
        "security.protocol": "SSL",
        "sasl.jaas.config": LOGIN,
        "ssl.truststore.type": "PEM",
        "ssl.truststore.certificates": CERTIFICATE,
        "ssl.keystore.type": "PEM",
        "ssl.keystore.key": KEY,
        "ssl.keystore.certificate.chain": CERTIFICATE,
    }
    assert told["librdkafka"] == {
        "security.protocol": "SSL",
        "sasl.username": "alice",
        "sasl.password": "hush",
        "ssl.ca.location": f"{tmp_path}/ca.pem",
        "ssl.certificate.location": f"{tmp_path}/me.pem",
        "ssl.key.location": f"{tmp_path}/me.pem",
    }


def test_a_keystore_that_is_not_pem_stays_a_file(tmp_path: Path) -> None:
    store = tmp_path / "store.p12"
    store.touch()
    written = {"ssl.keystore.location": str(store), "ssl.keystore.type": "PKCS12", "ssl.keystore.password": "hush"}
    assert client_settings(Client(written, "f"))["java"] == written


def test_librdkafkas_properties_are_refused_because_spark_would_ignore_them() -> None:
    with pytest.raises(UsageError, match=r"f: sasl.password is a property of librdkafka") as caught:
        client_settings(Client({"sasl.password": "hush"}, "f"))
    assert "hush" not in f"{caught.value.message}{caught.value.resolution}"


def test_settings_are_shown_without_passwords() -> None:
    settings = {
        "name": "a",
        "kafka": {"sasl.jaas.config": LOGIN, "client.id": "me"},
        "spark": {"spark.authenticate.secret": "hush", "spark.driver.memory": "2g"},
    }
    told = without_secrets(settings)
    assert told["name"] == "a"
    assert told["kafka"]["client.id"] == "me"
    assert told["spark"]["spark.driver.memory"] == "2g"
    assert "hush" not in str(told)
