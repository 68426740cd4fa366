"""The explanation of every check of `kcluster check`: requirement, reason, consequence and fix."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class CheckExplanation:
    """The explanation of one check."""

    id: str
    asks: str
    """The requirement in one line."""
    why: str
    otherwise: str
    fix: str


SWAPPINESS, MAPS = 10, 262_144


def sysctl(key: str, value: int) -> str:
    """The line that sets a kernel setting now and for good; it adds to the file, which has several."""
    return f"echo '{key} = {value}' >> /etc/sysctl.d/60-kafka.conf && sysctl --system"


_EXPLANATIONS = (
    CheckExplanation(
        "ssh",
        "the host answers over SSH",
        "kcluster reads hosts over SSH and Ansible writes them over SSH: with the address, user, port, key and jump "
        "host of the inventory and of ~/.ssh/config, and only when the host's key is the known one.",
        "The host is not checked; the others are. Exit code 6.",
        "Run the same login by hand: ssh -v USER@ADDRESS true. A changed host key means a new installation (remove "
        "the old line: ssh-keygen -R ADDRESS) or an intercepted connection.",
    ),
    CheckExplanation(
        "sudo",
        "the account may become root",
        "Units, accounts and directories below /opt, /etc and /var/lib are made by root; reading foreign processes "
        "too.",
        "Nothing can be installed, and the other checks of the host are skipped.",
        "On the host: echo 'USER ALL=(ALL) NOPASSWD: ALL' | sudo tee /etc/sudoers.d/kcluster. Where sudo wants a "
        "password: kcluster check -K asks for it. Or log in as root: ansible_user: root.",
    ),
    CheckExplanation(
        "python-version",
        "Python 3.8 or newer is there as python3",
        "The scripts that read a host, and every Ansible module, are Python programs that run on the host.",
        "Neither kcluster nor Ansible works on the host; its other checks are skipped.",
        "Debian and Ubuntu: apt-get install python3. RHEL and derivatives: dnf install python3.",
    ),
    CheckExplanation(
        "os-family",
        "the system is one that the roles know: Debian, Ubuntu, RHEL and derivatives",
        "Paths, package names and the service manager differ between systems. kcluster is tested on Debian 11, 12 and "
        "13; the other systems of these families are supported by the roles but not tested.",
        "It may still work: kcluster needs only systemd, Python and Java.",
        "Install Java yourself, and try `kcluster plan` and `kcluster provision` on a host without data.",
    ),
    CheckExplanation(
        "systemd",
        "systemd runs the host",
        "Every node is a systemd unit: started at boot after its disks, limited, stopped in order, its log kept.",
        "The nodes would not be started, at boot or at all.",
        "Use a virtual machine or a machine; in a container, one that boots systemd as its first process.",
    ),
    CheckExplanation(
        "unit-owner",
        "the units of the host are not another cluster's",
        "Ids, paths and names of units are the same in every cluster; only the description of a unit in "
        "/etc/systemd/system says which one it belongs to: `Kafka broker 1 of NAME`.",
        "A wrong address in the inventory would overwrite the configuration of a cluster that works, and its next "
        "restart would make its nodes those of this one.",
        "Correct ansible_host, or take the host out of this inventory. If the other cluster left the host, remove it "
        "with its own inventory: kcluster destroy. If kcluster_name was changed, write the old name again; to change "
        "it for good, edit the line Description= of the units on each host first.",
    ),
    CheckExplanation(
        "java-version",
        "Java is there and new enough for what runs on the host",
        "Kafka 3.9 needs Java 11 on brokers (17 is the better choice), Kafka 4 and Spark need Java 17. What counts is "
        "the Java that the unit starts: JAVA_HOME of kafka_environment, zookeeper_environment or spark_environment, "
        "else `java` on the system's path.",
        "The unit ends at once with UnsupportedClassVersionError, or with `java: not found`.",
        "Debian and Ubuntu: apt-get install openjdk-17-jre-headless (from Debian 13 on: default-jre-headless). RHEL "
        "and its kin: dnf install java-17-openjdk-headless. Or write kafka_install_java: true in the inventory: then "
        "provision installs it. `kcluster check --fix` does it too.",
    ),
    CheckExplanation(
        "memory-heap",
        "the heaps of all nodes of a host, and Spark's executors, fit into its memory, with room for the page cache",
        "Kafka lives from the page cache: a consumer that is not far behind is served from memory. A heap of a few "
        "gigabytes is enough for most brokers; the rest of the memory is better left to the system. A Spark worker "
        "gives executors as much as spark_worker_memory says, and all but 1 GiB when it says nothing.",
        "Heaps beyond the memory end in the OOM killer under load; heaps above three quarters of it make every read "
        "a disk read, and the host swaps.",
        "Lower kafka_heap, zookeeper_heap, kafka_controller_heap, spark_heap or spark_worker_memory, put fewer nodes "
        "on the host, or give it more memory.",
    ),
    CheckExplanation(
        "disk-space",
        "every data directory has room",
        "A broker whose disk is full takes the directory offline, and ends when it was the only one. ZooKeeper with "
        "a full disk ends at once. Executors put aside in spark_work_dir what does not fit into their memory. Inodes "
        "count too: each segment has several files.",
        "The first full disk is a broker less; with the same sizes everywhere the others follow within minutes.",
        "Make room (du -xsh PATH/*), shorten retention (kcluster topic alter TOPIC retention.bytes=...), or give it "
        "a larger disk. A new directory needs 1 GiB; with data in it, less than that is a warning, and so is less than "
        "10 % in any directory.",
    ),
    CheckExplanation(
        "disk-filesystem",
        "data directories are on a local file system",
        "Kafka and ZooKeeper rely on atomic renames, on deleted files that can be read while they are open, and on "
        "fsync that reaches the disk. XFS and ext4 provide all three.",
        "On NFS a broker ends with `Stale file handle` or `device or resource busy` when it deletes a segment; on "
        "tmpfs all data is lost at a reboot.",
        "Put the data directories on a local disk with XFS or ext4, mounted with noatime.",
    ),
    CheckExplanation(
        "disk-read-only",
        "the disk of every data directory can be written",
        "ext4 and XFS make themselves read-only after an error of the disk.",
        "The node does not start, or loses the directory at its first write.",
        "dmesg -T | grep -iE 'error|remount' shows the error; repair or replace the disk, then mount it again.",
    ),
    CheckExplanation(
        "disk-mount",
        "every disk that should be mounted is mounted",
        "When fstab or a mount unit promises a disk at or above a data directory and it is not there, an empty "
        "directory of the system's disk shows through instead.",
        "The node starts with no data at all: a broker copies everything anew onto the system's disk until that is "
        "full, a ZooKeeper server or controller loses the votes and writes it has acknowledged.",
        "mount PATH; when it refuses, look at lsblk -f and dmesg. If the disk is gone for good, take it out of "
        "/etc/fstab.",
    ),
    CheckExplanation(
        "disk-owner",
        "data that is there belongs to the service account",
        "A normal run never changes the owner of data: over many files that takes long, and a wrong path would be "
        "worse.",
        "The node ends with `Permission denied` (AccessDeniedException) at its start.",
        "Look at what it is, then: chown -R USER:GROUP PATH",
    ),
    CheckExplanation(
        "fsync-latency",
        "the disk of the metadata log answers small synced writes quickly",
        "ZooKeeper and the KRaft controllers answer a write when it is on the disk of a majority: each change of an "
        "ISR, of a leader or of a topic waits for it. Measured are 30 writes of 4 KiB, each followed by fdatasync.",
        "Slow syncs delay every change of the cluster; pauses of seconds end sessions, and brokers drop out and come "
        "back.",
        "Give zookeeper_log_dir or kafka_controller_data_dir an SSD of its own, not shared with brokers' data or "
        "logs. Warned above 10 ms for the slowest percent; an error when that is above 100 ms and the median above "
        "10 ms too.",
    ),
    CheckExplanation(
        "node-id",
        "the id on the disk is the id in the inventory",
        "The id is written into meta.properties or myid when a node first starts, and its data belongs to that id.",
        "A broker refuses to start (`Configured broker.id doesn't match stored broker.id`). A ZooKeeper server or "
        "controller with a foreign id acts as another member: votes are counted twice, and acknowledged data may be "
        "lost.",
        "Correct the id in the inventory when the disk is right; when disks were swapped, swap them back. Never edit "
        "meta.properties or myid to make this check silent.",
    ),
    CheckExplanation(
        "cluster-id",
        "all data directories belong to this one cluster",
        "meta.properties carries the id of the cluster that wrote the data.",
        "The broker ends with InconsistentClusterIdException, or, with its id corrected by hand, mixes two clusters.",
        "Look where the host came from. If it belongs to another cluster, take it out of this inventory. If its data "
        "is no longer needed, move the directory away on the host: mv PATH PATH.old",
    ),
    CheckExplanation(
        "older-data",
        "a data directory is empty, or it holds this cluster's data",
        "What lies in a directory without a matching meta.properties or myid was written by something else: an older "
        "cluster, another program, or a disk from another host. The same holds for brokers' data beside an empty "
        "ZooKeeper.",
        "Kafka may take foreign partitions for its own, or refuse to start; a fresh ZooKeeper gives the cluster a "
        "new id, and the old brokers refuse it. With any directory in it that is no partition a broker does not start; "
        "an empty lost+found is removed at each start.",
        "Look at it (ls -la PATH). When it is not needed: mv PATH PATH.old, or only what is named. kcluster never "
        "deletes data to go on.",
    ),
    CheckExplanation(
        "port-taken",
        "the ports of every node are free, or its own unit holds them",
        "Two programs cannot listen on one port.",
        "The node ends at its start with `Address already in use`, and systemd tries again five times.",
        "End or move the program that is named, or give the node another port: port in kafka_listeners, "
        "zookeeper_client_port, kafka_controller_port, spark_master_port and the like.",
    ),
    CheckExplanation(
        "bind-address",
        "every address that a node is told to bind is one of its host",
        "`host` of a listener is the address of an own network card; what others use is `advertised_host`.",
        "The broker ends with `Cannot assign requested address`.",
        "Leave `host` of the listener out to bind every address, and write the public name as advertised_host.",
    ),
    CheckExplanation(
        "own-name",
        "a host does not take its own name for a loopback address",
        "Debian's installer writes `127.0.1.1 NAME` into /etc/hosts. ZooKeeper and Spark's masters and workers bind "
        "the address they find for their own name.",
        "Their ports then listen on loopback only: the ZooKeeper servers do not reach each other and have no quorum; a "
        "Spark master has no workers.",
        "Remove the name from the 127.0.1.1 line in /etc/hosts, or write the address as ansible_host in the inventory.",
    ),
    CheckExplanation(
        "name-resolution",
        "every advertised name resolves on every host",
        "A client is told a broker's advertised name and connects to that name; so do the brokers among themselves.",
        "The first connection works and every later one fails: replicas are never in sync, producers time out.",
        "Add the name to DNS or to /etc/hosts on each host, or advertise an address: advertised_host in "
        "kafka_listeners.",
    ),
    CheckExplanation(
        "port-matrix",
        "every host reaches the ports of the others, and this machine those it asks",
        "Each host connects to each port that it will need: listeners of brokers, client, peer and election ports of "
        "ZooKeeper, ports of controllers, of Spark's masters and of its workers. So does this machine: at the listener "
        "that clients use, ZooKeeper or controllers, Spark's masters and their pages, because gates, health checks and "
        "the smoke test connect to them. Where no process listens yet, the other "
        "host opens the port for these few seconds, unless the unit that needs it runs or is started meanwhile. "
        "Executors talk to each other and to their driver through ports that they choose when they start; those are "
        "not tested.",
        "`timed out` is a firewall that drops or a route that is missing; `refused` one that rejects, or a node that "
        "runs without this port. Brokers that reach the metadata quorum but not each other are never in sync.",
        "Open the ports between the hosts: firewall-cmd --permanent --add-port=9092/tcp && firewall-cmd --reload; "
        "ufw allow from NETWORK to any port 9092 proto tcp; security groups of a cloud need it too. A machine that "
        "enters the hosts through a jump host reaches their ports through it as well: sshuttle -r JUMP_HOST NETWORK/24",
    ),
    CheckExplanation(
        "clock-skew",
        "the clocks of the hosts agree",
        "Records get the time of the client or of the leader; retention by time, delegation tokens, certificates and "
        "the reading of several logs side by side depend on it.",
        "Segments are deleted too early or never, certificates are `not yet valid`, and lines of several logs are "
        "in a wrong order.",
        "Run a time service on every host: apt-get install chrony; dnf install chrony. Warned from 0.5 s, an error "
        "from 5 s.",
    ),
    CheckExplanation(
        "swap",
        "the host does not swap",
        "A Java heap that was swapped out is read back page by page when the collector looks at it.",
        "Pauses of many seconds: ZooKeeper sessions and controller heartbeats expire, leaders move, clients time out.",
        "swapoff -a, and take the swap line out of /etc/fstab. If it must stay: vm.swappiness = 1.",
    ),
    CheckExplanation(
        "swappiness",
        f"vm.swappiness is {SWAPPINESS} or less where there is swap, better 1",
        "The default of 60 gives memory of programs away to gain page cache, long before memory is short.",
        "Parts of the heap land in swap although the host has memory; see `swap`.",
        sysctl("vm.swappiness", 1) + " `kcluster check --fix` and the role `host` set it to 1 as well, in "
        "/etc/sysctl.d/60-kcluster-kafka.conf.",
    ),
    CheckExplanation(
        "max-map-count",
        f"vm.max_map_count is at least {MAPS} on brokers",
        "A broker maps two index files for each segment; the default of 65530 is used up at about 30 000 segments.",
        "The broker ends with `Map failed` (OutOfMemoryError) although memory is free, often after months.",
        sysctl("vm.max_map_count", MAPS) + " `kcluster check --fix` and the role `host` set it as well, in "
        "/etc/sysctl.d/60-kcluster-kafka.conf.",
    ),
    CheckExplanation(
        "open-files",
        "the kernel allows as many open files as the unit asks for",
        "The unit sets LimitNOFILE itself: ulimit and limits.conf do not count for it. The kernel's fs.nr_open is "
        "the bound.",
        "systemd cannot set the limit, and the unit does not start (status 205/LIMITS).",
        sysctl("fs.nr_open", 1_048_576),
    ),
    CheckExplanation(
        "huge-pages",
        "transparent huge pages are not forced on every program",
        "With `always` the kernel joins pages in the background and may hold a program up while it does.",
        "Now and then a pause of some hundred milliseconds that no log explains.",
        "echo madvise > /sys/kernel/mm/transparent_hugepage/enabled, and transparent_hugepage=madvise for the kernel.",
    ),
    CheckExplanation(
        "login-shell",
        "a command over SSH starts without delay",
        "sshd runs each command through the account's shell, and that reads its start-up files (.bashrc, .zshenv) "
        "first.",
        "Each of the hundreds of commands of a run waits that long.",
        "time ssh HOST true shows it. Return early in the file for other shells: case $- in *i*) ;; *) return ;; "
        "esac Looking up names while logging in costs too: UseDNS no in sshd_config; a host's own name in /etc/hosts "
        "for sudo.",
    ),
)

EXPLANATIONS = {check.id: check for check in _EXPLANATIONS}
"""Every check by its id, in the order of the report."""
