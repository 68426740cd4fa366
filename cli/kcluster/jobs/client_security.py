"""How a job logs in to the brokers: the settings of its Kafka clients, for Java and for librdkafka.

They go into one file of the job's folder, for its owner only. Certificates go along in it, because Spark may read
Kafka from hosts that do not have the files.
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
"""Names that Java's client does not have; Spark would ignore them."""

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
"""Names that Spark's source sets itself and refuses from others."""


def clients(client: Client) -> dict[str, dict[str, str]]:
    """What a client says to the brokers, for Java and for librdkafka; nothing when it says nothing."""
    if not client.written:
        return {}
    if foreign := [key for key in client.written if key in _LIBRDKAFKA]:
        raise UsageError(
            f"{client.origin}: {foreign[0]} is librdkafka's word, and Spark is Java",
            resolution="write it as for Java clients: sasl.jaas.config, ssl.truststore.location, ...",
        )
    here = client.beside(Path.cwd())  # the job runs in another folder
    spelled = {"java": _with_certificates(here.written), "librdkafka": librdkafka(here)}
    return {
        language: {key: value for key, value in told.items() if key not in _SPARKS_OWN}
        for language, told in spelled.items()
    }


def shown(settings: Mapping[str, Any]) -> dict[str, Any]:
    """A job's settings as they may be shown: passwords among its properties are hidden."""
    properties = {
        name: {key: HIDDEN if secret(key, str(value)) else value for key, value in settings[name].items()}
        for name in ("kafka", "spark")
        if name in settings
    }
    return {**settings, **properties}


def _with_certificates(written: Mapping[str, str]) -> dict[str, str]:
    """Java's properties with the content of PEM files instead of their names."""
    told = dict(written)
    if location := told.pop("ssl.truststore.location", ""):
        told.pop("ssl.truststore.password", None)  # Java refuses one for PEM
        told |= {"ssl.truststore.type": "PEM", "ssl.truststore.certificates": pem(_text(location), "CERTIFICATE")}
    if written.get("ssl.keystore.location") and is_pem(written):
        text = _text(told.pop("ssl.keystore.location"))
        told.pop("ssl.keystore.password", None)
        told |= {
            "ssl.keystore.type": "PEM",
            "ssl.keystore.key": pem(text, "PRIVATE KEY"),
            "ssl.keystore.certificate.chain": pem(text, "CERTIFICATE"),
        }
    return told


def _text(location: str) -> str:
    return Path(location).read_text()
