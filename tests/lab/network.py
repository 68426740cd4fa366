"""A lab's network: one namespace with a bridge, no way out of it, and a cable to each host's own namespace."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

from tests.lab.machine import attempt, run

NAMESPACES = Path("/run/netns")


@dataclass(frozen=True)
class Network:
    """The network of one lab; its addresses are the same in every lab, because they exist only in its namespaces."""

    lab: str

    @property
    def namespace(self) -> str:
        """The namespace from which hosts are reached."""
        return f"lab-{self.lab}"

    def address(self, index: int) -> str:
        """The address of a host; 1 is the control side."""
        return f"10.77.0.{index}"

    def create(self) -> None:
        """Make the namespace and its bridge."""
        run("ip", "netns", "add", self.namespace)
        _ip(self.namespace, "link set lo up")
        _ip(self.namespace, "link add br0 type bridge")
        _ip(self.namespace, f"addr add {self.address(1)}/24 dev br0")
        _ip(self.namespace, "link set br0 up")

    def delete(self) -> None:
        """Take the namespace away, with all that is in it."""
        remove_namespace(self.namespace)


@dataclass(frozen=True)
class Cable:
    """The cable between a lab's bridge and one host: `port` at the bridge, eth0 at the host."""

    network: Network
    host: str
    index: int

    @property
    def namespace(self) -> str:
        """The host's namespace."""
        return f"{self.network.namespace}-{self.host}"

    @property
    def port(self) -> str:
        """The bridge's end."""
        return f"v{self.index}"

    @property
    def address(self) -> str:
        """The host's address."""
        return self.network.address(self.index)

    def create(self) -> None:
        """Make the host's namespace and plug it in; the hardware address stays the same from boot to boot."""
        run("ip", "netns", "add", self.namespace)
        _ip(self.namespace, "link set lo up")
        hardware = f"02:77:00:00:00:{self.index:02x}"
        end = f"peer name eth0 netns {self.namespace} address {hardware}"
        _ip(self.network.namespace, f"link add {self.port} type veth {end}")
        _ip(self.network.namespace, f"link set {self.port} master br0 up")
        _ip(self.namespace, f"addr add {self.address}/24 dev eth0")
        _ip(self.namespace, "link set eth0 up")

    def delete(self) -> None:
        """Unplug: the bridge's end first, because the host's end outlives its namespace and keeps the name taken."""
        attempt("ip", "-n", self.network.namespace, "link", "del", self.port)
        remove_namespace(self.namespace)

    def set(self, state: str) -> None:
        """Pull the cable (down) or put it in again (up)."""
        _ip(self.network.namespace, f"link set {self.port} {state}")

    def narrow(self, rate: str) -> None:
        """Let no more than this rate through, each way."""
        self.widen()
        for where, device in self._ends():
            run("tc", "-n", where, *f"qdisc add dev {device} root tbf rate {rate} burst 32kbit latency 50ms".split())

    def widen(self) -> None:
        """Let everything through again."""
        for where, device in self._ends():
            attempt("tc", "-n", where, "qdisc", "del", "dev", device, "root")

    def refuse(self, address: str) -> None:
        """Drop what comes from or goes to an address; once is enough for both directions."""
        rules = f"""
            table ip {_table(address)}
            delete table ip {_table(address)}
            table ip {_table(address)} {{
                chain in {{ type filter hook input priority 0; ip saddr {address} drop; }}
                chain out {{ type filter hook output priority 0; ip daddr {address} drop; }}
            }}"""
        run("ip", "netns", "exec", self.namespace, "nft", "-f", "-", input=rules)

    def admit_only(self, address: str, port: int) -> None:
        """Drop what comes from an address to any other port than this one, as a firewall that lets little through."""
        rules = f"""
            table ip {_table(address)}
            delete table ip {_table(address)}
            table ip {_table(address)} {{
                chain in {{ type filter hook input priority 0; ip saddr {address} tcp dport != {port} drop; }}
            }}"""
        run("ip", "netns", "exec", self.namespace, "nft", "-f", "-", input=rules)

    def accept(self, address: str) -> None:
        """Stop dropping."""
        attempt("ip", "netns", "exec", self.namespace, "nft", "delete", "table", "ip", _table(address))

    def reset(self, port: int) -> None:
        """Break every established connection to a port of the host, as a firewall that forgot them does."""
        attempt("ip", "netns", "exec", self.namespace, "ss", "-K", "-t", "state", "established", f"( sport = :{port} )")

    def _ends(self) -> tuple[tuple[str, str], tuple[str, str]]:
        return (self.network.namespace, self.port), (self.namespace, "eth0")


def remove_namespace(name: str) -> None:
    """Take a namespace away if it is there."""
    if (NAMESPACES / name).exists():
        run("ip", "netns", "del", name)


def _table(address: str) -> str:
    return "cut_" + address.replace(".", "_")


def _ip(namespace: str, command: str) -> None:
    run("ip", "-n", namespace, *command.split())
