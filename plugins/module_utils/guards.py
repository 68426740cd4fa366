"""What must not be touched: units of another cluster, disks of another node, not mounted, or with foreign data."""

from __future__ import annotations

import glob
import os
import re

ROOT = ""
"""What stands before the paths of the system; tests put a folder here."""

_KEPT = re.compile(
    r"meta\.properties|myid|version-2|zookeeper_server\.pid|\.lock|\.kafka_cleanshutdown|bootstrap\.checkpoint"
    r"|.*-checkpoint(\.tmp)?|__cluster_metadata-0|.+-\d+(\..+-(delete|future|stray))?"
)
"""The names that Kafka and ZooKeeper give to what they keep."""

METADATA = "__cluster_metadata-0"
"""Where a KRaft node keeps the cluster's metadata: in its first data directory, and Kafka refuses it in another."""

_OF_A_FORMAT = re.compile(r"lost\+found|bootstrap\.checkpoint|.+\.tmp")
"""What may lie in a directory that gets formatted: what an interrupted format leaves."""

_OF_SPARK = re.compile(r"jobs|scratch")
"""The names of what a Spark worker keeps."""


def refusal(node):
    """Why a node must not be brought up on this host, and what to do; nothing when it may."""
    found, ours = "", _KEPT
    if node["kind"] == "zookeeper":
        found = other_server(node["data_dirs"][0], node["id"])
    elif node["kind"].startswith("spark-"):
        ours = _OF_SPARK
    else:
        found = next(filter(None, (other_node(path, node) for path in node["data_dirs"])), "")
    found = found or next(filter(None, (unfit(path, node["user"], ours) for path in node["data_dirs"])), "")
    return found or (unformattable(node["data_dirs"]) if node["format"] else "")


def other_cluster(whose):
    """Why a host whose units are another cluster's is left to that one; before anything is changed there."""
    found = {path: re.search(whose["of_another"], read(path) or "") for path in whose["units"]}
    path, owner = next(((path, told[1]) for path, told in found.items() if told), ("", ""))
    return owner and (
        f"{path} belongs to the cluster {owner}, but the inventory says kcluster_name: {whose['cluster']}; is this the "
        f"right host? If {owner} is only the older name of the same cluster, write kcluster_name: {owner} again"
    )


def other_server(data_dir, number):
    """Why a ZooKeeper server may not take a directory whose `myid` is another's."""
    found = (read(os.path.join(data_dir, "myid")) or "").strip()
    if not found or found == str(number):
        return ""
    return (
        f"{data_dir}/myid says {found}, but the inventory says zookeeper_id: {number}; correct the inventory, "
        "or give this server an empty directory"
    )


def other_node(data_dir, node):
    """Why a broker or controller may not take a directory that another node or cluster has formatted."""
    found = pairs(read(os.path.join(data_dir, "meta.properties")) or "")
    number = found.get("node.id", found.get("broker.id", ""))
    if number not in ("", "-1", str(node["id"])):
        return (
            f"{data_dir}/meta.properties belongs to the node {number}, but the inventory says "
            f"kafka_{node['kind']}_id: {node['id']}; correct the inventory, or give it empty directories"
        )
    cluster = found.get("cluster.id", "")
    if cluster and node["cluster_id"] and cluster != node["cluster_id"]:
        return (
            f"{data_dir}/meta.properties belongs to the cluster {cluster}, but the inventory says kafka_cluster_id: "
            f"{node['cluster_id']}; is this the right host? If its data may go, empty the directory"
        )
    return ""


def unformattable(data_dirs):
    """Why the directories of a KRaft node cannot be made ready as they are."""
    for path in data_dirs[1:]:
        if os.path.exists(os.path.join(path, METADATA)):
            return (
                f"{path} holds the cluster's metadata, and Kafka looks for it in the first directory, {data_dirs[0]}; "
                f"write {path} first in kafka_data_dirs, and new directories after it"
            )
    for path in data_dirs:
        names = set(os.listdir(path)) if os.path.isdir(path) else set()
        if "meta.properties" not in names and not all(map(_OF_A_FORMAT.fullmatch, names)):
            return (
                f"{path} holds data but no meta.properties, so nobody knows whose it is; put the file back, or empty "
                "the directory if its data may go"
            )
    return ""


def unfit(data_dir, user, ours):
    """Why a data directory cannot be used as it is; `ours` are the names that may lie in it whoever owns it."""
    point = missing_mount(data_dir)
    if point:
        return f"{data_dir} belongs on the file system of {point}, which is not mounted; mount it: mount {point}"
    return foreign(data_dir, user, ours)


def foreign(data_dir, user, ours):
    """Why a directory that holds something else is left alone."""
    try:
        names = set(os.listdir(data_dir)) - {"lost+found"}
        owner = owner_of(data_dir)
    except FileNotFoundError:
        return ""
    except NotADirectoryError:
        return f"{data_dir} is not a directory; move it away, or write another one into the inventory"
    if not names or owner == user or any(ours.fullmatch(name) for name in names):
        return ""
    shown = ", ".join(sorted(names)[:3])
    return (
        f"{data_dir} belongs to {owner} and holds {shown}, which is not for {user}; "
        "empty it, or write another directory into the inventory"
    )


def missing_mount(path):
    """The mount point that a path should lie on and that is not mounted; nothing when all is well."""
    path = os.path.realpath(path)
    mounted = set(mounted_points())
    should = [point for point in promised_points() if point != "/" and (path + "/").startswith(point + "/")]
    return next((point for point in should if os.path.realpath(point) not in mounted), "")


def promised_points():
    """The mount points that /etc/fstab and systemd's mount units of this host promise."""
    lines = [line.split() for line in (read(ROOT + "/etc/fstab") or "").splitlines()]
    points = [unescaped(words[1]) for words in lines if len(words) > 1 and words[1].startswith("/")]
    for unit in sorted(glob.glob(ROOT + "/etc/systemd/system/*.mount")):
        points.append(pairs(read(unit) or "").get("Where", ""))
    return [point.rstrip("/") or "/" for point in points if point]


def mounted_points():
    """What is mounted now."""
    return [unescaped(line.split()[4]) for line in (read(ROOT + "/proc/self/mountinfo") or "").splitlines()]


def unescaped(point):
    """A mount point as it is written: blanks stand there as numbers."""
    return re.sub(r"\\([0-7]{3})", lambda found: chr(int(found.group(1), 8)), point)


def pairs(text):
    """The lines `key=value` of a text, without comments."""
    lines = [line.partition("=") for line in text.splitlines() if "=" in line and not line.lstrip().startswith("#")]
    return {key.strip(): value.strip() for key, _, value in lines}


def read(path):
    """The text of a file; None when it is not there."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            return file.read()
    except (FileNotFoundError, NotADirectoryError):
        return None


def owner_of(path):
    """Whose a directory is: a name, or a number when nobody has that name."""
    import pwd

    number = os.stat(path).st_uid
    try:
        return pwd.getpwuid(number).pw_name
    except KeyError:
        return str(number)
