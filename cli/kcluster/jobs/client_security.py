"""The security settings of a job's Kafka clients, for Java and for librdkafka.

They are written to one file in the job directory, readable by its owner only. It includes certificates, because
executors may run on hosts without the files.
"""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path
from typing import Any

from kcluster.config.escaping import HIDDEN, secret
from kcluster.errors import UsageError
from kcluster.inventory.client_config import is_pem, librdkafka, pem
from kcluster.model.client import Client

_LIBRDKAFKA = (
    "sasl.username",
    "sasl.password",
    "sasl.mechanisms",
    "ssl.ca.location",
    "ssl.ca.pem",
    "ssl.certificate.location",
    "ssl.certificate.pem",
    "ssl.key.location",
    "ssl.key.pem",
    "enable.ssl.certificate.verification",
)
"""Properties of librdkafka that Java clients, and so Spark, ignore."""

_SPARKS_OWN = (
    "bootstrap.servers",
    "group.id",
    "auto.offset.reset",
    "enable.auto.commit",
    "key.serializer",
    "value.serializer",
    "key.deserializer",
    "value.deserializer",
    "interceptor.classes",
)
"""Properties that Spark's Kafka source sets itself and refuses."""


def client_settings(client: Client) -> dict[str, dict[str, str]]:
    """A client's properties by language, "java" and "librdkafka"; UsageError for librdkafka's names."""
    if not client.written:
        return {}
    if unknown := [key for key in client.written if key in _LIBRDKAFKA]:
        raise UsageError(
            f"{client.origin}: {unknown[0]} is a property of librdkafka, but Spark uses the Java client",
            resolution="use the Java properties: sasl.jaas.config, ssl.truststore.location, ...",
        )
    client = client.beside(Path.cwd())  # the job runs in another working directory
    by_language = {"java": _with_certificates(client.written), "librdkafka": librdkafka(client)}
    return {
        language: {key: value for key, value in properties.items() if key not in _SPARKS_OWN}
        for language, properties in by_language.items()
    }


def without_secrets(settings: Mapping[str, Any]) -> dict[str, Any]:
    """A job's settings with secret properties replaced by a placeholder."""
    properties = {
        name: {key: HIDDEN if secret(key, str(value)) else value for key, value in settings[name].items()}
        for name in ("kafka", "spark")
        if name in settings
    }
    return {**settings, **properties}


def _with_certificates(written: Mapping[str, str]) -> dict[str, str]:
    """Java properties with the content of PEM files in place of their paths."""
    properties = dict(written)
    if location := properties.pop("ssl.truststore.location", ""):
        properties.pop("ssl.truststore.password", None)  # Java refuses one for PEM
        properties |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": pem(_text(location), "CERTIFICATE")}
    if written.get("ssl.keystore.location") and is_pem(written):
        text = _text(properties.pop("ssl.keystore.location"))
        properties.pop("ssl.keystore.password", None)
        properties |= {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.key": pem(text, "PRIVATE KEY"),
            "ssl.keystore.certificate.chain": pem(text, "CERTIFICATE"),
        }
    return properties


def _text(location: str) -> str:
    return Path(location).read_text()
