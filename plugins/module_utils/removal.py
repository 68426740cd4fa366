"""What is left of a cluster on this host, and taking it away; by Python 3.8 or newer with nothing else.

The module `destroyed` runs it on hosts, and `kcluster destroy` sends it there to look before it asks. A question is
{"nodes": [{"name", "unit", "unit_file", "title", "data": [{"path", "identity", "keys", "id", "ours", "inside"}]}],
 "folders": [{"path", "ours"}], "cluster_id": "", "delete_data": false, "sizes": true}; `ours` are patterns of names.
Where there is no identity, as Spark writes none, the names alone tell what is ours.
"""

from __future__ import annotations

import os
import re
import shutil
import subprocess

KEPT = ("lost+found",)
"""Names that belong to the file system and are nobody's data."""


def survey(question):
    """What is there, with sizes, and the reason for each data directory that would not be touched."""
    data = [directory(node, wanted, question) for node in question["nodes"] for wanted in node["data"]]
    return {
        "units": [node["unit"] for node in question["nodes"] if os.path.exists(node["unit_file"])],
        "strangers": [text for text in (stranger(node) for node in question["nodes"]) if text],
        "folders": [found for found in (folder(one, question["sizes"]) for one in question["folders"]) if found],
        "data": [found for found in data if found],
    }


def take_away(question, changing=True):
    """Stop and remove the nodes, then the folders; what was removed, and what was refused."""
    found = survey(question)
    if found["strangers"]:
        raise ValueError("; ".join(found["strangers"]))
    units = found["units"]
    if changing:
        remove_units([node for node in question["nodes"] if node["unit"] in units])
        found = survey(question)  # a node writes, and removes its lock, until its end
    data = found["data"] if question["delete_data"] else []
    doomed = [one for one in data if not one["refusal"]]
    folders = [one for one in found["folders"] if one["ours"] or not one["foreign"]]
    if changing:
        for one in sorted(doomed, key=lambda one: one["last"]):
            empty(one)
        for one in folders:
            sweep(one)
    removed = ["the unit " + name for name in units] + ["the data in " + one["path"] for one in doomed]
    return {
        "removed": removed + [one["path"] for one in folders],
        "refused": [one["path"] + " " + one["refusal"] for one in data if one["refusal"]],
    }


# Looking.


def directory(node, wanted, question):
    """A data directory: its size, whose it is, and why it must not be touched; None when nothing is in it."""
    path = wanted["path"]
    entries = sorted(set(listed(path)) - set(KEPT))
    if not entries:
        return None
    said = identity(wanted["identity"])
    return {
        "path": path,
        "node": node["name"],
        "entries": len(entries),
        "size": size(path) if question["sizes"] else 0,
        "cluster_id": said.get("cluster.id", ""),
        "refusal": refusal(wanted, entries, said, question["cluster_id"]),
        "names": [name for name in entries if os.path.join(path, name) != wanted["identity"]],
        "identity": wanted["identity"],
        # The file that says whose data it is goes last, so that an interrupted run can be taken up again.
        "last": os.path.dirname(wanted["identity"]) == path,
    }


def refusal(wanted, entries, said, cluster_id):
    """Why a data directory must not be touched; empty when it is certainly ours."""
    path = wanted["path"]
    if os.path.realpath(path) != os.path.normpath(path):
        return "is a symbolic link, or lies behind one"
    if os.path.normpath(path) == "/":
        return "is the root of the host"
    beneath = [point for point in mounts() if point.startswith(os.path.normpath(path) + "/")]
    if beneath:
        return "something is mounted in it: " + few(beneath)
    foreign = [name for name in entries if not ours(path, name, wanted)]
    if foreign:
        return "holds what is not the cluster's: " + few(foreign)
    return "" if not wanted["identity"] else not_ours(wanted, said, cluster_id)


def ours(path, name, wanted):
    """Whether an entry of a data directory is one that a node makes; of a directory, everything in it too."""
    entry = os.path.join(path, name)
    inside = listed(entry) if os.path.isdir(entry) and not os.path.islink(entry) else []
    known = fits(name, wanted["ours"]) and all(fits(each, wanted["inside"]) for each in inside)
    return known and not any(os.path.islink(one) for one in [entry, *(os.path.join(entry, each) for each in inside)])


def not_ours(wanted, said, cluster_id):
    """What in its identity is another node's or another cluster's."""
    name = os.path.basename(wanted["identity"])
    if not said:
        return name + " does not say whose data it is"
    number = next((said[key] for key in wanted["keys"] if key in said), "")
    if number != wanted["id"]:
        return "{} says id {}, the inventory {}".format(name, number or "nothing", wanted["id"])
    if cluster_id and said.get("cluster.id", cluster_id) != cluster_id:
        return "{} belongs to the cluster {}, not to {}".format(name, said["cluster.id"], cluster_id)
    return ""


def identity(path):
    """What meta.properties says, or the number in myid under that name."""
    try:
        with open(path, encoding="utf-8", errors="replace") as file:
            text = file.read()
    except OSError:
        return {}
    if os.path.basename(path) == "myid":
        return {"myid": text.strip()} if text.strip() else {}
    pairs = (line.partition("=") for line in text.splitlines() if "=" in line and not line.startswith("#"))
    return {key.strip(): value.strip() for key, _, value in pairs}


def folder(wanted, sizes):
    """A directory for programs, configuration or logs: what in it is ours and what is not; None when it is gone."""
    path = wanted["path"]
    if os.path.islink(path) or os.path.normpath(path) == "/":
        return {"path": path, "size": 0, "ours": [], "foreign": ["what a symbolic link or the root holds"]}
    if not os.path.isdir(path):
        return None
    names = listed(path)
    ours = [name for name in names if fits(name, wanted["ours"]) and not os.path.ismount(os.path.join(path, name))]
    there = [os.path.join(path, name) for name in ours]
    foreign = sorted(set(names) - set(ours) - set(KEPT))
    return {"path": path, "size": sum(map(size, there)) if sizes else 0, "ours": sorted(ours), "foreign": foreign}


def stranger(node):
    """Why a unit is another cluster's; empty when it is ours or not there."""
    try:
        with open(node["unit_file"], encoding="utf-8", errors="replace") as file:
            described = next((line for line in file if line.startswith("Description=")), "").strip()
    except OSError:
        return ""
    title = described.partition("=")[2]
    return "" if title == node["title"] else "{} is {!r}, not {!r}".format(node["unit_file"], title, node["title"])


def fits(name, patterns):
    """Whether a name is one of ours."""
    return any(re.fullmatch(pattern, name) for pattern in patterns)


def listed(path):
    """The names in a directory; none when there is no such directory."""
    try:
        return sorted(os.listdir(path))
    except (FileNotFoundError, NotADirectoryError):
        return []


def size(path):
    """The bytes that a file or a tree takes; links are not followed."""
    total = 0
    for at, folders, files in () if os.path.islink(path) else os.walk(path):
        total += sum(taken(os.path.join(at, name)) for name in folders + files)
    return total + taken(path)


def taken(path):
    """The bytes of one entry; none when it went away meanwhile."""
    try:
        return os.lstat(path).st_blocks * 512
    except FileNotFoundError:
        return 0


def mounts():
    """Every mount point."""
    with open("/proc/self/mountinfo", encoding="utf-8", errors="replace") as file:
        return [line.split()[4].replace("\\040", " ") for line in file]


def few(names):
    """The first of many, and how many more."""
    rest = f" and {len(names) - 3} more" if len(names) > 3 else ""
    return ", ".join(names[:3]) + rest


# Taking away.


def remove_units(nodes):
    """Stop units in an orderly way, forget them at boot, and remove their files."""
    for node in nodes:
        systemctl("stop", node["unit"])
    for node in nodes:
        systemctl("disable", "--quiet", node["unit"])
        os.unlink(node["unit_file"])
    if nodes:
        systemctl("daemon-reload")
        # A unit that failed would be remembered without its file.
        systemctl("reset-failed", *[node["unit"] for node in nodes], certain=False)


def systemctl(*words, certain=True):
    """One command to systemd; ValueError with its words when it does not do it."""
    done = subprocess.run(("systemctl", *words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode and certain:
        said = done.stdout.decode(errors="replace").strip()
        raise ValueError("systemctl {} ended with {}: {}".format(" ".join(words), done.returncode, said))


def empty(found):
    """Remove the content of a data directory; the directory stays."""
    for name in found["names"]:
        remove(os.path.join(found["path"], name))
    if found["last"]:
        os.unlink(found["identity"])


def sweep(found):
    """Remove what is ours from a folder, and the folder when nothing else is in it."""
    for name in found["ours"]:
        remove(os.path.join(found["path"], name))
    if not listed(found["path"]) and not os.path.ismount(found["path"]):
        os.rmdir(found["path"])


def remove(path):
    """Remove a file, a link (not what it points to) or a tree."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)
