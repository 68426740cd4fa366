"""A listener: a named endpoint of a broker with its bind and advertised addresses."""

from __future__ import annotations

from dataclasses import dataclass

PROTOCOLS = ("PLAINTEXT", "SSL", "SASL_PLAINTEXT", "SASL_SSL")


@dataclass(frozen=True, kw_only=True)
class Listener:
    """One entry of `kafka_listeners`."""

    name: str
    port: int
    protocol: str = "PLAINTEXT"
    host: str = ""
    """The address to bind; empty means every address of the host."""
    advertised_host: str
    advertised_port: int

    @property
    def label(self) -> str:
        """The name as Kafka writes it, in upper case."""
        return self.name.upper()

    @property
    def bind(self) -> str:
        """The entry in `listeners`."""
        return f"{self.label}://{self.host}:{self.port}"

    @property
    def advertised(self) -> str:
        """The entry in `advertised.listeners`."""
        return f"{self.label}://{self.address}"

    @property
    def address(self) -> str:
        """The advertised address: "host:9092"."""
        return f"{self.advertised_host}:{self.advertised_port}"
