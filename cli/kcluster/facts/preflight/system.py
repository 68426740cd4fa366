"""What is judged of a host as a whole: its system, Java, memory, kernel and shell. Pure: facts in, answers out."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import TYPE_CHECKING

from kcluster.clients.java import Java as Runtime
from kcluster.config.unit_titles import other_owner
from kcluster.facts.preflight.catalogue import MAPS, SWAPPINESS, sysctl
from kcluster.facts.preflight.check_results import CheckResult, CheckSeverity
from kcluster.model.node import Kind
from kcluster.model.spark_cluster import SparkDaemon, SparkWorker

if TYPE_CHECKING:
    from kcluster.facts.preflight.host_facts import HostFacts
    from kcluster.model.cluster import Cluster
    from kcluster.model.node import Node
    from kcluster.model.release import Release
    from kcluster.model.spark_cluster import SparkRelease

KNOWN = {"debian", "ubuntu", "rhel", "fedora", "centos", "rocky", "almalinux", "ol"}
OPEN_FILES = 200_000
"""What the units ask for with LimitNOFILE."""
SHELL_SECONDS = 1.0
KERNEL = ("vm/swappiness", "vm/max_map_count", "fs/nr_open")
_UNITS = {"k": 10, "m": 20, "g": 30, "t": 40}


def answers(cluster: Cluster, name: str, host: HostFacts) -> Iterator[CheckResult]:
    """Everything about one host that answered."""
    nodes = [node for node in cluster.every_node if node.host.name == name]
    yield CheckResult("python-version", CheckSeverity.OK, name, f"Python {host.python}")
    yield os_family(name, host)
    yield systemd(name, host)
    yield unit_owner(cluster, name, host)
    for home in java_homes(nodes):
        yield java(cluster, name, host, home, _most_demanding(cluster, nodes, home))
    yield heaps(name, host, nodes)
    yield swap(name, host)
    yield swappiness(name, host)
    if any(node.kind is Kind.BROKER for node in nodes):
        yield maps(name, host)
    yield open_files(name, host)
    yield huge_pages(name, host)
    yield shell(name, host)


def python(name: str, found: str) -> CheckResult:
    """Python is missing or too old."""
    fix = "apt-get install python3, or dnf install python3"
    return CheckResult("python-version", CheckSeverity.ERROR, name, found, "Python 3.8 or newer as python3", fix)


def os_family(name: str, host: HostFacts) -> CheckResult:
    """The system is one that the roles know."""
    words = {host.os.get("ID", ""), *host.os.get("ID_LIKE", "").split()}
    title = host.os.get("PRETTY_NAME") or host.os.get("ID") or "an unknown system"
    if words & KNOWN:
        return CheckResult("os-family", CheckSeverity.OK, name, title)
    return CheckResult(
        "os-family",
        CheckSeverity.WARNING,
        name,
        title,
        "Debian, Ubuntu, RHEL or their kin",
        "kcluster explain os-family",
    )


def systemd(name: str, host: HostFacts) -> CheckResult:
    """systemd runs the host."""
    if host.systemd:
        return CheckResult("systemd", CheckSeverity.OK, name, "systemd runs the host")
    return CheckResult(
        "systemd", CheckSeverity.ERROR, name, "systemd does not run the host", "systemd", "boot the host with systemd"
    )


def unit_owner(cluster: Cluster, name: str, host: HostFacts) -> CheckResult:
    """The units of the host are not another cluster's."""
    owners = {path: owner for path, unit in host.units.items() if (owner := other_owner(unit, cluster.name))}
    if not owners:
        return CheckResult("unit-owner", CheckSeverity.OK, name, f"no unit of a cluster other than {cluster.name}")
    path, owner = next(iter(owners.items()))
    fix = f"is ansible_host of {name} right? If {owner} is only the older name of this cluster: kcluster_name: {owner}"
    return CheckResult(
        "unit-owner", CheckSeverity.ERROR, name, f"{path} belongs to the cluster {owner}", cluster.name, fix
    )


def java_homes(nodes: list[Node]) -> tuple[str, ...]:
    """The different JAVA_HOME values of the nodes; empty for Java on the path."""
    return tuple(dict.fromkeys(node.environment.get("JAVA_HOME", "") for node in nodes))


def _most_demanding(cluster: Cluster, nodes: list[Node], home: str) -> Release | SparkRelease:
    """Of the releases that share a Java on one host, the one that needs the newest."""
    sharing = [node for node in nodes if node.environment.get("JAVA_HOME", "") == home]
    return max((cluster.part_of(node).release for node in sharing), key=lambda release: release.java)


def java(cluster: Cluster, name: str, host: HostFacts, home: str, release: Release | SparkRelease) -> CheckResult:
    """Java is there and new enough; where provision installs it anyhow, a missing one is a warning."""
    found, where = host.java.get(home), f" at JAVA_HOME={home}" if home else ""
    needed = f"Java {release.java} or newer for {release.title}"
    severity = CheckSeverity.WARNING if cluster.installs_java and not home else CheckSeverity.ERROR
    if not found:
        return CheckResult("java-version", severity, name, f"no Java{where}", needed, _install(host), fixable=not home)
    if Runtime(Path(home), found.version).feature < release.java:
        told = f"Java {found.version or 'of unknown version'} ({found.program})"
        return CheckResult("java-version", severity, name, told, needed, _install(host), fixable=not home)
    return CheckResult("java-version", CheckSeverity.OK, name, f"Java {found.version}{where}")


def _install(host: HostFacts) -> str:
    """What the role would install: `package` in plugins/module_utils/host_preparation.py, which only hosts can ask."""
    own, version = host.os.get("ID", ""), host.os.get("VERSION_ID", "99").partition(".")[0]
    if {"rhel", "fedora", "centos"} & {own, *host.os.get("ID_LIKE", "").split()}:
        return "dnf install java-17-openjdk-headless"
    if own == "debian" and version.isdigit() and int(version) > 12:
        return "apt-get install default-jre-headless"
    return "apt-get install openjdk-17-jre-headless"


def size(heap: str) -> int:
    """Bytes of a heap as the inventory writes it: 512m, 6g."""
    number, unit = heap.rstrip("kKmMgGtT"), heap[-1].lower()
    return int(number) << _UNITS.get(unit, 0)


def heaps(name: str, host: HostFacts, nodes: list[Node]) -> CheckResult:
    """The heaps of all nodes of the host, and what its executors may take, fit into its memory."""
    heap = sum(size(node.heap) for node in nodes)
    executors = sum(_executors(node, host) for node in nodes if isinstance(node, SparkWorker))
    wanted, shared = heap + executors, f" and {amount(executors)} for executors" if executors else ""
    told = f"heaps of {amount(heap)}{shared} in {amount(host.memory)} of memory"
    fix = f"lower {' and '.join(sorted({word for node in nodes for word in _MEMORY[node.kind]}))} of {name}"
    if wanted > host.memory:
        return CheckResult("memory-heap", CheckSeverity.ERROR, name, told, "heaps that fit, better at most half", fix)
    if wanted > 0.75 * host.memory and not all(isinstance(node, SparkDaemon) for node in nodes):
        return CheckResult("memory-heap", CheckSeverity.WARNING, name, told, "at most 75 %, for the page cache", fix)
    return CheckResult("memory-heap", CheckSeverity.OK, name, told)


def _executors(worker: SparkWorker, host: HostFacts) -> int:
    """Bytes that a worker gives to executors; what Spark takes when nobody says, is all but 1 GiB."""
    return size(worker.memory) if worker.memory else max(host.memory - (1 << 30), 1 << 30)


_MEMORY = {
    Kind.ZOOKEEPER: ("zookeeper_heap",),
    Kind.CONTROLLER: ("kafka_controller_heap",),
    Kind.BROKER: ("kafka_heap",),
    Kind.SPARK_MASTER: ("spark_heap",),
    Kind.SPARK_WORKER: ("spark_heap", "spark_worker_memory"),
}
"""The words by which people say how much memory a node takes."""


def amount(number: float) -> str:
    """Bytes as people read them."""
    for unit, shift in (("GiB", 30), ("MiB", 20), ("KiB", 10)):
        if number >= 1 << shift:
            return f"{number / (1 << shift):.1f} {unit}"
    return f"{number:.0f} B"


def swap(name: str, host: HostFacts) -> CheckResult:
    """The host does not swap."""
    if not host.swaps:
        return CheckResult("swap", CheckSeverity.OK, name, "there is none")
    fix = "swapoff -a, and take the swap line out of /etc/fstab"
    return CheckResult("swap", CheckSeverity.WARNING, name, f"swap is on: {', '.join(host.swaps)}", "no swap", fix)


def swappiness(name: str, host: HostFacts) -> CheckResult:
    """vm.swappiness is low where there is swap."""
    value = host.kernel.get("vm/swappiness", "")
    if not value.isdigit() or int(value) <= SWAPPINESS:
        return CheckResult("swappiness", CheckSeverity.OK, name, f"vm.swappiness is {value or 'not known'}")
    severity = CheckSeverity.WARNING if host.swaps else CheckSeverity.INFO
    fix = sysctl("vm.swappiness", 1)
    told = f"vm.swappiness is {value}"
    return CheckResult("swappiness", severity, name, told, f"{SWAPPINESS} or less, better 1", fix, fixable=True)


def maps(name: str, host: HostFacts) -> CheckResult:
    """vm.max_map_count is high enough for a broker's segments."""
    value = host.kernel.get("vm/max_map_count", "")
    if not value.isdigit() or int(value) >= MAPS:
        return CheckResult("max-map-count", CheckSeverity.OK, name, f"vm.max_map_count is {value or 'not known'}")
    fix = sysctl("vm.max_map_count", MAPS)
    return CheckResult(
        "max-map-count",
        CheckSeverity.WARNING,
        name,
        f"vm.max_map_count is {value}",
        f"{MAPS} or more",
        fix,
        fixable=True,
    )


def open_files(name: str, host: HostFacts) -> CheckResult:
    """The kernel allows as many open files as the units ask for."""
    value = host.kernel.get("fs/nr_open", "")
    if not value.isdigit() or int(value) >= OPEN_FILES:
        return CheckResult("open-files", CheckSeverity.OK, name, f"the kernel allows {value or 'an unknown number'}")
    told = f"the kernel allows {value} for one process"
    return CheckResult(
        "open-files", CheckSeverity.ERROR, name, told, f"{OPEN_FILES} or more", sysctl("fs.nr_open", 1_048_576)
    )


def huge_pages(name: str, host: HostFacts) -> CheckResult:
    """Transparent huge pages are not forced on every program."""
    if host.huge_pages != "always":
        return CheckResult(
            "huge-pages", CheckSeverity.OK, name, f"transparent huge pages: {host.huge_pages or 'not there'}"
        )
    fix = "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled"
    return CheckResult(
        "huge-pages", CheckSeverity.WARNING, name, "transparent huge pages: always", "madvise or never", fix
    )


def shell(name: str, host: HostFacts) -> CheckResult:
    """A command over SSH starts without delay."""
    if host.startup is None or host.startup <= SHELL_SECONDS:
        return CheckResult("login-shell", CheckSeverity.OK, name, "starts without delay")
    told = f"{host.startup:.1f} s from the login to the first line of a command"
    fix = "look for slow lines in .bashrc or .profile of the account: kcluster explain login-shell"
    return CheckResult("login-shell", CheckSeverity.WARNING, name, told, f"{SHELL_SECONDS:.0f} s or less", fix)
