"""A real cluster whose clients must log in over TLS: one broker, one keeper, keys made for the occasion."""

from __future__ import annotations

import json
import subprocess
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from tests.clusters import Live, started

NAME, USER = "secured", "alice"
PASSWORD = r"""hush "7\b" hush"""
"""With everything that has to be escaped on the way through JAAS, Java's properties, YAML and Spark."""

_LOGIN = "org.apache.kafka.common.security.plain.PlainLoginModule required"
_NEW_KEY = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:P-256", "-nodes", "-days", "2")


@dataclass(frozen=True)
class Secured:
    """The cluster, its inventory, and what its clients must say."""

    live: Live
    folder: Path

    @property
    def inventory(self) -> Path:
        """The inventory it was made from; it tells clients how to log in."""
        return self.folder / "hosts.yml"

    @property
    def outside(self) -> str:
        """Where clients come in who must log in."""
        record = json.loads((self.live.home / "local" / NAME / "record.json").read_text())
        return f"127.0.0.1:{record['ports']['broker-1 external']}"

    def client_file(
        self, name: str = "client", password: str = PASSWORD, authority: str = "ca.pem", *, inline: bool = False
    ) -> Path:
        """A file for Java's clients, right or with something wrong in it; `inline` has the certificate itself."""
        file = self.folder / f"{name}.properties"
        told = client_properties(str(self.folder / authority), password)
        if inline:
            told["ssl.truststore.certificates"] = Path(told.pop("ssl.truststore.location")).read_text()
        file.write_text("".join(f"{key}={_escaped(value)}\n" for key, value in told.items()))
        return file


def client_properties(authority: str, password: str = PASSWORD) -> dict[str, str]:
    """What a client of the outer listener must say, as Java spells it."""
    quoted = password.replace("\\", "\\\\").replace('"', '\\"')
    return {
        "security.protocol": "SASL_SSL",
        "sasl.mechanism": "PLAIN",
        "sasl.jaas.config": f'{_LOGIN} username="{USER}" password="{quoted}";',
        "ssl.truststore.type": "PEM",
        "ssl.truststore.location": authority,
    }


@contextmanager
def secured(folder: Path) -> Iterator[Secured]:
    """The cluster, ended and removed afterwards."""
    _authority(folder, "ca")
    _authority(folder, "stranger")
    _certificate(folder)
    (folder / "hosts.yml").write_text(json.dumps(_inventory(folder)))  # JSON is YAML
    with started(folder / "home", NAME, "-i", str(folder / "hosts.yml")) as live:
        yield Secured(live, folder)


def _inventory(folder: Path) -> dict[str, Any]:
    quoted = PASSWORD.replace("\\", "\\\\").replace('"', '\\"')
    door = "listener.name.external"
    return {
        "all": {
            "vars": {
                "ansible_connection": "local",
                "kcluster_name": NAME,
                "kafka_listeners": [
                    {"name": "internal", "port": 9092},
                    {"name": "external", "port": 9094, "protocol": "SASL_SSL"},
                ],
                "kafka_client_properties": client_properties("ca.pem"),  # beside the inventory
                "kafka_config": {
                    f"{door}.ssl.keystore.type": "PEM",
                    f"{door}.ssl.keystore.location": str(folder / "broker.pem"),
                    f"{door}.sasl.enabled.mechanisms": "PLAIN",
                    f"{door}.plain.sasl.jaas.config": f'{_LOGIN} user_{USER}="{quoted}";',
                },
            },
            "children": {
                "zookeeper": {"hosts": {"keeper": {"zookeeper_id": 1}}},
                "kafka_broker": {"hosts": {"broker": {"kafka_broker_id": 1}}},
            },
        }
    }


def _authority(folder: Path, name: str) -> None:
    """A certificate that signs others."""
    _openssl(folder, f"{name}.key", f"{name}.pem", "-subj", f"/CN={name}")


def _certificate(folder: Path) -> None:
    """The broker's key and certificate in one file, as Kafka reads them."""
    signed = ("-CA", str(folder / "ca.pem"), "-CAkey", str(folder / "ca.key"))
    names = ("-addext", "subjectAltName=IP:127.0.0.1", "-addext", "basicConstraints=critical,CA:FALSE")
    _openssl(folder, "broker.key", "broker.crt", "-subj", "/CN=broker", *signed, *names)
    both = (folder / "broker.key").read_text() + (folder / "broker.crt").read_text()
    (folder / "broker.pem").write_text(both)


def _openssl(folder: Path, key: str, certificate: str, *more: str) -> None:
    made = ("-keyout", str(folder / key), "-out", str(folder / certificate))
    subprocess.run(["openssl", "req", "-x509", *_NEW_KEY, *made, *more], check=True, capture_output=True)


def _escaped(value: str) -> str:
    """A value as Java's properties are written."""
    return value.replace("\\", "\\\\").replace("\n", "\\n")
