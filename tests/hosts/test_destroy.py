"""`kcluster destroy` on hosts: the data survives, or goes, and what is not the cluster's is never touched."""

from __future__ import annotations

from kcluster.errors import ExitCode
from tests.hosts.fleet import TRIO_KRAFT, Fleet, NewFleet

PLACES = "/opt/kafka /etc/kafka /var/log/kafka /var/cache/kafka /etc/systemd/system/kafka.service"
DATA = "/var/lib/kafka /var/lib/kafka-controller"
RECORD = "written before it was destroyed"


def listed(fleet: Fleet, host: str, places: str) -> list[str]:
    """What is in these places, or the places themselves when they are files."""
    return fleet.lab.ssh(host, f"ls -A {places} 2>/dev/null | grep -v ':$' || true").split()


def test_a_cluster_goes_comes_back_with_its_data_and_goes_for_ever(running: NewFleet) -> None:
    trio = running(3, TRIO_KRAFT)
    inventory = ("-i", str(trio.inventory))
    trio.run("topic", "create", "kept", "--partitions", "3", "--replication-factor", "3", *inventory)
    trio.run("produce", "kept", *inventory, input=f"{RECORD}\n")

    unasked = trio.run("destroy", *inventory, check=False)
    assert (unasked.returncode, "add --yes" in unasked.stderr) == (ExitCode.USAGE, True)
    assert trio.run("destroy", "--delete-data", "--yes", *inventory, check=False).returncode == ExitCode.USAGE
    wrong = trio.run("destroy", "--delete-data", "--confirm", "trio", *inventory, check=False)
    assert (wrong.returncode, "nothing was deleted" in wrong.stderr) == (ExitCode.NO, True)
    trio.run("status", *inventory)

    done = trio.run("destroy", "--yes", *inventory)
    assert "its data stays in h1:/var/lib/kafka-controller, h1:/var/lib/kafka" in done.stdout
    assert "the account kafka stays" in done.stdout
    assert [listed(trio, host, PLACES) for host in ("h1", "h2", "h3")] == [[], [], []]
    assert trio.lab.ssh("h1", "systemctl list-units --all --no-legend 'kafka*'").strip() == ""
    assert "nothing is left to remove" in trio.run("destroy", "--yes", *inventory).stdout
    assert "destroy" in trio.run("history", *inventory).stdout

    trio.ansible("provision.yml")
    trio.run("health", *inventory, "--wait", "120s")
    assert RECORD in trio.run("consume", "kept", "--from-beginning", "-e", *inventory).stdout

    trio.lab.ssh("h2", "mkdir /precious && touch /precious/file /etc/kafka/by-hand.conf")
    trio.lab.ssh("h2", "ln -s /precious /var/lib/kafka/orders-0")
    trio.lab.ssh(
        "h3", "sed -i s/^cluster.id=.*/cluster.id=AAAAAAAAAAAAAAAAAAAAAA/ /var/lib/kafka-controller/meta.properties"
    )
    gone = trio.run("destroy", "--delete-data", "--confirm", "triokraft", *inventory, check=False)
    assert gone.returncode == ExitCode.NO
    assert "h2: /var/lib/kafka holds what is not the cluster's: orders-0" in gone.stdout
    assert "h3: /var/lib/kafka-controller meta.properties belongs to the cluster AAAAAAAAAAAAAAAAAAAAAA" in gone.stdout
    assert listed(trio, "h1", f"{PLACES} {DATA}") == []
    assert {"meta.properties", "kept-0", "orders-0"} <= set(listed(trio, "h2", "/var/lib/kafka"))
    assert "meta.properties" in listed(trio, "h3", "/var/lib/kafka-controller")
    assert listed(trio, "h2", "/precious /etc/kafka /var/lib/kafka-controller") == ["by-hand.conf", "file"]

    trio.lab.ssh("h2", "rm /var/lib/kafka/orders-0")
    trio.lab.ssh("h3", "rm -r /var/lib/kafka-controller/*")
    nameless = trio.ansible("destroy.yml", check=False)
    assert "try: -e kafka_destroy_confirm=triokraft" in nameless.stdout + nameless.stderr
    trio.ansible("destroy.yml", "-e", "kafka_destroy_confirm=triokraft", "-e", "kafka_delete_data=true")
    assert [listed(trio, host, DATA) for host in ("h1", "h2")] == [[], []]
    assert listed(trio, "h2", "/precious") == ["file"]
