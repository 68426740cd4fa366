"""Hosts whose systemd is a table, and gates that are open; for tests that are about neither."""

from __future__ import annotations

import ast
import json
import re
from dataclasses import dataclass, field, replace

from kcluster.clients import host_scripts
from kcluster.clients.ssh import CommandResult
from kcluster.errors import LockedError, UnreachableError
from kcluster.model.broker import Broker
from kcluster.model.cluster import Cluster
from kcluster.model.ensemble import Ensemble, Server
from kcluster.model.host import Host
from kcluster.model.listener import Listener
from kcluster.model.release import Release
from kcluster.model.spark_cluster import SparkCluster, SparkMaster, SparkWorker
from kcluster.rollout.snapshot import SafeSet

HOSTS = tuple(Host(f"h{n}", f"10.0.0.{n}") for n in (1, 2, 3))
SERVERS = tuple(Server(host=host, id=n) for n, host in enumerate(HOSTS, 1))
BROKERS = tuple(
    Broker(
        host=host,
        id=n,
        listeners=(Listener(name="internal", port=9092, advertised_host=host.address, advertised_port=9092),),
    )
    for n, host in enumerate(HOSTS, 1)
)
TRIO = Cluster("trio", Release("3.9.2"), Ensemble(SERVERS), BROKERS)
SPARKED = replace(
    TRIO,
    engine=SparkCluster(
        "trio",
        tuple(SparkMaster(host=host) for host in HOSTS[:2]),
        tuple(SparkWorker(host=host) for host in HOSTS[1:]),
        keepers=TRIO.metadata.connect,
    ),
)
"""The same with two Spark masters and two workers."""

RUNNING = {"LoadState": "loaded", "ActiveState": "active", "SubState": "running", "Result": "success"}
IDLE = {**RUNNING, "ActiveState": "inactive", "SubState": "dead"}
DEAD = {**RUNNING, "ActiveState": "activating", "SubState": "auto-restart", "Result": "exit-code", "NRestarts": "1"}
MISSING = {**IDLE, "LoadState": "not-found"}


@dataclass
class Hosts:
    """Answers the scripts of `diagnosing` from a table of units."""

    units: dict[tuple[str, str], dict[str, str]] = field(default_factory=dict)
    orders: list[tuple[str, str, str]] = field(default_factory=list)
    """What was asked of systemd: verb, unit, host."""
    console: str = ""
    log: str = ""
    refuses: str = ""
    """What systemctl complains about an order; nothing when it carries it out."""
    sockets: str = ""
    started_with: dict[str, str] = field(default_factory=dict)
    """The text of each file, by path, with which the processes of all hosts were started."""
    names: tuple[str, ...] = ("h1", "h2", "h3")

    def run(self, command, *, stdin, only, **_):
        return {name: self.ask(name, command, stdin=stdin[name]) for name in only}

    def ask(self, name, command, *, stdin, **_):
        if command == host_scripts.COMMAND:
            return CommandResult(0, json.dumps(self._processes(name, stdin)), "")
        lines = stdin.splitlines()
        cut = "--- kcluster ---\n"
        assert any(cut.strip() in line for line in lines[:2])  # it knows where the answer begins
        begin = f"Welcome to {name}\n\n{cut}"
        if lines[-1].startswith("exec systemctl"):
            _, _, verb, unit = lines[-1].split()
            self.orders.append((verb, unit, name))
            return CommandResult(int(bool(self.refuses)), f"{begin}1700000000\n120\n", self.refuses)
        shown = "\n\n".join(self._shown(name, unit) for unit in lines[1].split()[4:])
        if len(lines) == 2:
            return CommandResult(0, f"{begin}{shown}", "")
        return CommandResult(0, f"{begin}{shown}\n{cut}{self.console}{cut}{self.log}{cut}{self.sockets}", "")

    def start(self, name, command, **_):
        raise UnreachableError(f"{name}: no session")

    def _processes(self, name, program):
        (question,) = re.findall(r"\.processes\(json\.loads\((.*)\)\)$", program, re.MULTILINE)
        asked = json.loads(ast.literal_eval(question))["nodes"]
        return {node["name"]: self._process(self.units.get((name, node["unit"]), RUNNING)) for node in asked}

    def _process(self, facts):
        running = facts["ActiveState"] == "active"
        unit = {
            "state": facts["ActiveState"],
            "pid": 42 if running else None,
            "listening": ["[::]:1"] if running else [],
        }
        started = self.started_with if running else {}
        return {"unit": unit, "started_with": started, "started_release": "", "recovery": None}

    def _shown(self, name, unit):
        facts = {"Id": f"{unit}.service", **self.units.get((name, unit), RUNNING)}
        return "\n".join(f"{key}={value}" for key, value in facts.items())


@dataclass
class LosingLock:
    """A lock that is lost at its last question."""

    questions: int
    """How often it is asked until it is lost; with 0 it is held."""
    guard: str = ""
    taken: list[str] = field(default_factory=list)
    """The hosts on which it was taken again."""

    def take_again(self, name):
        self.taken.append(name)

    def check(self):
        self.questions -= 1
        if self.questions == 0:
            raise LockedError("another kcluster run works on trio")


@dataclass
class OpenGates:
    """Gates that only close for whom the test says."""

    cluster: Cluster = TRIO
    unsafe_partitions: bool = False
    timeout: float = 0.0
    leading: tuple[str, ...] = ("zookeeper-1", "broker-2")
    hopeless: tuple = ()
    closed: dict = field(default_factory=dict)
    late: dict = field(default_factory=dict)
    without_process: tuple[str, ...] = ()
    apart: tuple[set[str], ...] = ()
    """The pairs of nodes that may not stop together."""
    lagging: tuple[str, ...] = ()
    """Those that may not stop with others yet; one less with each question."""

    def observe(self, nodes):
        pass

    def unsafe(self, *stops):
        return self.hopeless

    def before_stop(self, nodes):
        return tuple(reason for node in nodes for reason in self.closed.get(node.name, ()))

    def safe_set(self, turn, most):
        """What `apart` does not name may stop together."""
        together = [turn.first]
        for each in turn.candidates[:most]:
            if not any({each.name, other.name} in self.apart for other in together):
                together.append(each)
        together += [turn.last] if turn.last and len(together) == 1 + len(turn.candidates) else []
        late = [node for node in turn.others if node.name in self.lagging]
        self.lagging = self.lagging[1:]
        together = [node for node in together if node not in late]
        return SafeSet(together, late, self.before_stop(together))

    def after_start(self, *nodes):
        return self.serving(nodes)

    def serving(self, nodes):
        return tuple(reason for node in nodes for reason in self.late.get(node.name, ()))

    def dead(self, node):
        return node.name in self.without_process

    def leader(self, kind):
        return next((name for name in self.leading if name.startswith(kind)), "")
