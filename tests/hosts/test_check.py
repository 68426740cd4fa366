"""`kcluster check` on real hosts: what is good, and every trouble that can be made there."""

from __future__ import annotations

import json
from collections.abc import Callable, Iterator
from typing import Any

from tests.hosts.fleet import TRIO_KRAFT, TRIO_ZK, Fleet, NewFleet
from tests.lab import faults
from tests.lab.machine import run as shell

_PYTHON = "$(readlink -f /usr/bin/python3)"


def asked(fleet: Fleet, code: int, *options: str, env: dict[str, str] | None = None) -> list[dict[str, Any]]:
    """Every answer of a check that ends with this code."""
    done = fleet.run("check", "-i", str(fleet.inventory), "-o", "json", *options, check=False, env=env)
    assert done.returncode == code, f"{done.returncode}\n{done.stdout}\n{done.stderr}"
    return list(json.loads(done.stdout)["checks"])


def errors(answers: list[dict[str, Any]]) -> dict[tuple[str, str], str]:
    return {(each["id"], each["host"]): each["found"] for each in answers if each["severity"] == "error"}


def test_bare_hosts_are_good_and_each_trouble_is_named(fleet: NewFleet) -> None:
    hosts = fleet(3, TRIO_ZK)
    bare_hosts_are_good_and_nothing_is_left_there(hosts)
    troubles: list[Callable[[Fleet], None]] = [
        a_taken_port_names_the_program,
        a_unit_that_starts_keeps_its_port,
        a_partition_shows_in_the_matrix,
        a_killed_check_holds_no_port,
        a_firewall_that_lets_ssh_through_alone_is_told,
        a_missing_mount_and_foreign_data_are_refused,
        names_are_looked_up_on_every_host,
        a_missing_java_or_python_is_named,
    ]
    for trouble in troubles:
        trouble(hosts)
        assert errors(asked(hosts, 0)) == {}, f"after {trouble.__name__}"
    sudo_that_refuses_is_told_apart_from_ssh(hosts)
    an_unreachable_host_does_not_stop_the_others(hosts)


def bare_hosts_are_good_and_nothing_is_left_there(hosts: Fleet) -> None:
    hosts.lab.ssh("h1", "systemctl is-system-running --wait || true")  # services make folders while they start
    before = hosts.lab.ssh("h1", "ls -A / /var/lib /tmp; ss -Hltn")
    answers = asked(hosts, 0)
    assert errors(answers) == {}
    matrix = {each["host"]: each["found"] for each in answers if each["id"] == "port-matrix"}
    others = dict.fromkeys(("h1", "h2", "h3"), "reaches 8 ports of 2 hosts")
    assert matrix == {**others, "this machine": "reaches 6 ports of 3 hosts"}
    assert "ms for a synced write" in next(each["found"] for each in answers if each["id"] == "fsync-latency")
    assert "failed=0" in hosts.ansible("check.yml").stdout
    assert hosts.lab.ssh("h1", "ls -A / /var/lib /tmp; ss -Hltn") == before


def a_taken_port_names_the_program(hosts: Fleet) -> None:
    hosts.lab.ssh("h1", "systemd-run --quiet --unit=web python3 -m http.server 9092")
    pid = hosts.lab.ssh("h1", "systemctl show -P MainPID web").strip()
    hosts.lab.ssh("h1", "timeout 10 sh -c 'until ss -Hltn sport = :9092 | grep -q .; do sleep 0.05; done'")
    done = hosts.run("check", "-i", str(hosts.inventory), check=False)
    assert done.returncode == 4
    assert f"port 9092 of broker-1 is held by pid {pid}, " in done.stdout
    assert "-m http.server 9092" in done.stdout
    assert "try: systemctl stop web.service, or another port  [port-taken, h1]" in done.stdout
    hosts.lab.ssh("h1", "systemctl stop web")


def a_unit_that_starts_keeps_its_port(hosts: Fleet) -> None:
    hosts.lab.ssh("h1", "systemd-run --quiet --unit=kafka sleep 300")
    told = [each for each in asked(hosts, 0) if each["id"] == "port-matrix" and each["severity"] != "ok"]
    assert [(each["host"], each["severity"]) for each in told] == [("h1", "info")]
    assert told[0]["found"].startswith("h1:9092 not tested: kafka.service is starting")
    hosts.lab.ssh("h1", "systemctl stop kafka")


def a_partition_shows_in_the_matrix(hosts: Fleet) -> None:
    first, second = hosts.lab.host("h1"), hosts.lab.host("h2")
    faults.partition(first, second)
    found = errors(asked(hosts, 4))
    assert found == {
        ("port-matrix", "h1"): "ports 2181, 2888, 3888 and 9092 of h2 cannot be reached from h1: timed out",
        ("port-matrix", "h2"): "ports 2181, 2888, 3888 and 9092 of h1 cannot be reached from h2: timed out",
    }
    faults.heal(first, second)


def a_killed_check_holds_no_port(hosts: Fleet) -> None:
    """It is killed in its second, longer try of a port that a firewall rejects, and run again at once."""
    firewall = ("ip", "netns", "exec", hosts.lab.host("h1").cable.namespace, "nft")
    rule = "type filter hook input priority 0; tcp dport 9092 reject with tcp reset;"
    shell(*firewall, "-f", "-", input=f"table ip wall {{\nchain in {{ {rule} }}\n}}\n")
    with hosts.process("check", "-i", str(hosts.inventory)) as check:
        first = next(listeners(hosts))
        assert next(each for each in listeners(hosts) if each != first)
        check.kill()
        check.communicate()
    shell(*firewall, "delete", "table", "ip", "wall")


def listeners(hosts: Fleet) -> Iterator[str]:
    """The processes that listen on the port of h1's broker, one look after the other."""
    for _ in range(200):
        if found := hosts.lab.ssh("h1", "ss -Hltnp sport = :9092 | grep -o 'pid=[0-9]*' || true"):
            yield found


def a_firewall_that_lets_ssh_through_alone_is_told(hosts: Fleet) -> None:
    for host in hosts.lab.hosts:
        faults.ssh_only(host)
    shut = [each for each in asked(hosts, 4) if each["severity"] == "error"]
    for host in hosts.lab.hosts:
        faults.every_port(host)
    assert [(each["id"], each["host"], each["found"]) for each in shut] == [
        ("port-matrix", "this machine", f"port {port} of h1, h2 and h3 cannot be reached from this machine: timed out")
        for port in (2181, 9092)
    ]


def a_missing_mount_and_foreign_data_are_refused(hosts: Fleet) -> None:
    hosts.lab.ssh("h2", "echo '/dev/vdb /var/lib/kafka xfs noatime 0 2' >> /etc/fstab")
    hosts.lab.ssh("h3", "mkdir -p /var/lib/kafka/orders-0 && printf 'broker.id=7\\ncluster.id=theirs\\n' > m.p")
    hosts.lab.ssh("h3", "mv m.p /var/lib/kafka/meta.properties")
    hosts.lab.ssh("h3", "echo 'Description=Kafka broker 7 of theirs' > /etc/systemd/system/kafka.service")
    found = errors(asked(hosts, 4))
    refused = hosts.ansible("check.yml", check=False)
    assert refused.returncode == 2
    assert "h2 is not fit for its part of trio" in refused.stdout
    assert "try: mount /var/lib/kafka" in refused.stdout
    assert "h1                         : ok=2" in refused.stdout
    assert found["disk-mount", "h2"].startswith("/var/lib/kafka: /var/lib/kafka is in fstab or a mount unit")
    assert found["node-id", "h3"] == "/var/lib/kafka is the data of id 7"
    assert found["older-data", "h3"].endswith("and the metadata quorum has no data")
    assert found["disk-owner", "h3"] == "/var/lib/kafka holds data and belongs to user number 0"
    assert found["unit-owner", "h3"] == "/etc/systemd/system/kafka.service belongs to the cluster theirs"
    of_h3 = {(word, "h3") for word in ("node-id", "older-data", "disk-owner", "unit-owner")}
    assert set(found) == {("disk-mount", "h2"), *of_h3}
    hosts.lab.ssh("h2", "sed -i /vdb/d /etc/fstab")
    hosts.lab.ssh("h3", "rm -r /var/lib/kafka /etc/systemd/system/kafka.service")


def names_are_looked_up_on_every_host(hosts: Fleet) -> None:
    inside, outside = "{{name: internal, port: 9092, advertised_host: {0}}}", "{{name: tls, port: 9094, protocol: SSL}}"
    listeners = f"kafka_listeners: [{inside}, {outside}]"
    named = ", ".join(f"{name}: {{{listeners.format(name)}}}" for name in ("h1", "h2", "h3"))
    (hosts.inventory / "names.yml").write_text(f"all: {{hosts: {{{named}}}}}")
    hosts.lab.ssh("h1", "cp /etc/hosts /root/hosts && sed -i 's/^.* h1$/127.0.1.1 h1/' /etc/hosts")
    hosts.lab.ssh("h3", "cp /etc/hosts /root/hosts && sed -i '/ h2$/d' /etc/hosts")
    answers = asked(hosts, 4)
    # This machine knows none of the names that the brokers would tell it.
    unknown_here = ("name-resolution", "this machine")
    assert errors(answers) == {("name-resolution", "h3"): "h2 does not resolve", unknown_here: "h3 does not resolve"}
    secure = hosts.inventory.parent / "secure.properties"
    secure.write_text("security.protocol=SSL\n")  # such a client is told addresses
    assert set(errors(asked(hosts, 4, "--client-config", str(secure)))) == {("name-resolution", "h3")}
    assert "h1 resolves to 127.0.1.1 on the host itself" in {
        each["found"] for each in answers if each["id"] == "own-name"
    }
    for name in ("h1", "h3"):
        hosts.lab.ssh(name, "cp /root/hosts /etc/hosts")
    (hosts.inventory / "names.yml").unlink()


def a_missing_java_or_python_is_named(hosts: Fleet) -> None:
    hosts.lab.ssh("h2", "mv /usr/bin/java /usr/bin/java.away")
    hosts.lab.ssh("h3", f"ln {_PYTHON} /root/python && rm {_PYTHON}")
    found = errors(asked(hosts, 4))
    assert found == {("java-version", "h2"): "no Java", ("python-version", "h3"): "there is no python3"}
    hosts.lab.ssh("h2", "mv /usr/bin/java.away /usr/bin/java")
    hosts.lab.ssh("h3", "mv /root/python /usr/bin/$(readlink /usr/bin/python3)")


def sudo_that_refuses_is_told_apart_from_ssh(hosts: Fleet) -> None:
    faults.no_sudo(hosts.lab.host("h1"))
    faults.sudo_asks(hosts.lab.host("h2"))
    users = hosts.inventory / "users.yml"
    users.write_text("all: {hosts: {h1: {ansible_user: plain}, h2: {ansible_user: asked}}}")
    found = errors(asked(hosts, 4))
    assert set(found) == {("sudo", "h1"), ("sudo", "h2")}
    assert found["sudo", "h2"] == "sudo wants a password for asked"
    assert set(errors(asked(hosts, 4, env={"KCLUSTER_BECOME_PASSWORD": faults.PASSWORD}))) == {("sudo", "h1")}
    users.unlink()


def an_unreachable_host_does_not_stop_the_others(hosts: Fleet) -> None:
    faults.cable_out(hosts.lab.host("h3"))
    answers = asked(hosts, 6)
    assert set(errors(answers)) == {("ssh", "h3")}
    assert {each["host"] for each in answers if each["id"] == "disk-space"} == {"h1", "h2"}
    reached = {each["host"]: each["found"] for each in answers if each["id"] == "port-matrix"}
    others = dict.fromkeys(("h1", "h2"), "reaches 4 ports of 1 host")
    assert reached == {**others, "this machine": "reaches 4 ports of 2 hosts"}


def test_fix_repairs_the_kernel_settings_and_checks_again(fleet: NewFleet) -> None:
    hosts = fleet(
        1,
        TRIO_KRAFT.replace(", h2: {kafka_controller_id: 3002}, h3: {kafka_controller_id: 3003}", "").replace(
            ", h2: {kafka_broker_id: 2}, h3: {kafka_broker_id: 3}", ""
        ),
    )
    hosts.lab.ssh("h1", "echo 60 > /run/lazy && mount --bind /run/lazy /proc/sys/vm/swappiness")  # one that can be set
    refused = hosts.run("check", "-i", str(hosts.inventory), "--fix", check=False)
    assert refused.returncode == 2
    assert "add --yes" in refused.stderr
    assert hosts.lab.ssh("h1", "cat /proc/sys/vm/swappiness").strip() == "60"
    done = hosts.run("check", "-i", str(hosts.inventory), "--fix", "--yes", "--all")
    assert "swappiness on h1" in done.stderr
    (run,) = json.loads(hosts.run("history", "-i", str(hosts.inventory), "-o", "json").stdout)["runs"]
    assert (run["outcome"], "--fix" in run["words"]) == ("done", True)
    assert [line.split() for line in done.stdout.splitlines() if " swappiness " in line] == [
        ["ok", "swappiness", "h1", "vm.swappiness", "is", "1"]
    ]
    assert hosts.lab.ssh("h1", "id -un kafka").strip() == "kafka"
