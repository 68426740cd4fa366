"""What is left of a cluster on this host, and removing it.

The module `destroyed` runs it, and `kcluster destroy` sends it to survey the hosts before it asks. A question is
{"nodes": [{"name", "unit", "unit_file", "title", "data": [{"path", "identity", "id", "ours", "inside"}]}],
 "folders": [{"path", "ours"}], "cluster_id": "", "delete_data": false, "sizes": true}; `ours` are patterns of names.
Where there is no identity, as Spark writes none, the names alone say what is ours.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from typing import Any, Dict

from ansible_collections.kcluster.kafka.plugins.module_utils import disk_identity
from ansible_collections.kcluster.kafka.plugins.module_utils.errors import HostRefusedError
from ansible_collections.kcluster.kafka.plugins.module_utils.files import few, listed
from ansible_collections.kcluster.kafka.plugins.module_utils.mounts import mounts, within
from ansible_collections.kcluster.kafka.plugins.module_utils.unit_owner import other_unit

Question = Dict[str, Any]
Found = Dict[str, Any]

KEPT = ("lost+found",)
"""Names that belong to the file system and are nobody's data."""


def main(question: Question) -> None:
    """Print the survey as one line of JSON."""
    print(json.dumps(survey(question)))


def survey(question: Question) -> Found:
    """What is there, with sizes, and the reason for each data directory that would not be touched."""
    data = [directory(node, wanted, question) for node in question["nodes"] for wanted in node["data"]]
    return {
        "units": [node["unit"] for node in question["nodes"] if os.path.exists(node["unit_file"])],
        "strangers": list(filter(None, (other_unit(node["unit_file"], node["title"]) for node in question["nodes"]))),
        "folders": [found for found in (folder(one, question["sizes"]) for one in question["folders"]) if found],
        "data": [found for found in data if found],
    }


def remove_all(question: Question, changing: bool = True) -> dict[str, list[str]]:
    """Stop and remove the nodes, then the folders; what was removed, and what was refused."""
    found = survey(question)
    if found["strangers"]:
        raise HostRefusedError("; ".join(found["strangers"]))
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


# Surveying.


def directory(node: dict[str, Any], wanted: dict[str, Any], question: Question) -> Found | None:
    """A data directory: its size, whose it is, and why it must not be touched; None when nothing is in it."""
    path = wanted["path"]
    entries = sorted(set(listed(path)) - set(KEPT))
    if not entries:
        return None
    identity = disk_identity.identity(wanted["identity"])
    return {
        "path": path,
        "node": node["name"],
        "entries": len(entries),
        "size": size(path) if question["sizes"] else 0,
        "cluster_id": identity.get("cluster_id", ""),
        "refusal": refusal(wanted, entries, identity, question["cluster_id"]),
        "names": [name for name in entries if os.path.join(path, name) != wanted["identity"]],
        "identity": wanted["identity"],
        # The file that says whose data it is goes last, so that an interrupted run can be taken up again.
        "last": os.path.dirname(wanted["identity"]) == path,
    }


def refusal(wanted: dict[str, Any], entries: list[str], identity: dict[str, str], cluster_id: str) -> str:
    """Why a data directory must not be touched; empty when it is certainly ours."""
    path = wanted["path"]
    if os.path.realpath(path) != os.path.normpath(path):
        return "is a symbolic link, or lies behind one"
    if os.path.normpath(path) == "/":
        return "is the root of the host"
    points = [point for point, _ in mounts()]
    if not points:
        return "may have something mounted in it: /proc/self/mountinfo cannot be read"
    beneath = [point for point in points if within(point, path) and point != os.path.normpath(path)]
    if beneath:
        return "something is mounted in it: " + few(beneath)
    foreign = [name for name in entries if not ours(path, name, wanted)]
    if foreign:
        return "holds what is not the cluster's: " + few(foreign)
    return "" if not wanted["identity"] else not_ours(wanted, identity, cluster_id)


def ours(path: str, name: str, wanted: dict[str, Any]) -> bool:
    """Whether an entry of a data directory is one that a node makes; of a directory, everything in it too."""
    entry = os.path.join(path, name)
    inside = listed(entry) if os.path.isdir(entry) and not os.path.islink(entry) else []
    known = fits(name, wanted["ours"]) and all(fits(each, wanted["inside"]) for each in inside)
    return known and not any(os.path.islink(one) for one in [entry, *(os.path.join(entry, each) for each in inside)])


def not_ours(wanted: dict[str, Any], identity: dict[str, str], cluster_id: str) -> str:
    """Which other node or cluster the identity file names; empty when it is ours."""
    name = os.path.basename(wanted["identity"])
    if not identity:
        return f"{name} has no id of a node or cluster"
    wrong = disk_identity.conflicts({"id": "", **identity}, wanted["id"], cluster_id)
    if wrong == ["cluster_id"]:
        return f"{name} belongs to the cluster {identity['cluster_id']}, not to {cluster_id}"
    return f"{name} says id {identity.get('id', 'nothing')}, the inventory {wanted['id']}" if wrong else ""


def folder(wanted: dict[str, Any], sizes: bool) -> Found | None:
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


def fits(name: str, patterns: list[str]) -> bool:
    """Whether a name is one of ours."""
    return any(re.fullmatch(pattern, name) for pattern in patterns)


def size(path: str) -> int:
    """The bytes that a file or a tree takes; links are not followed."""
    total = 0
    for at, folders, files in () if os.path.islink(path) else os.walk(path):
        total += sum(taken(os.path.join(at, name)) for name in folders + files)
    return total + taken(path)


def taken(path: str) -> int:
    """The bytes of one entry; none when it went away meanwhile."""
    try:
        return os.lstat(path).st_blocks * 512
    except FileNotFoundError:
        return 0


# Removing.


def remove_units(nodes: list[dict[str, Any]]) -> None:
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


def systemctl(*words: str, certain: bool = True) -> None:
    """One command to systemd; HostRefusedError with its output when it fails."""
    done = subprocess.run(("systemctl", *words), stdout=subprocess.PIPE, stderr=subprocess.STDOUT, check=False)
    if done.returncode and certain:
        output = done.stdout.decode(errors="replace").strip()
        raise HostRefusedError(f"systemctl {' '.join(words)} ended with {done.returncode}: {output}")


def empty(found: Found) -> None:
    """Remove the content of a data directory; the directory stays."""
    for name in found["names"]:
        remove(os.path.join(found["path"], name))
    if found["last"]:
        os.unlink(found["identity"])


def sweep(found: Found) -> None:
    """Remove what is ours from a folder, and the folder when nothing else is in it."""
    for name in found["ours"]:
        remove(os.path.join(found["path"], name))
    if not listed(found["path"]) and not os.path.ismount(found["path"]):
        os.rmdir(found["path"])


def remove(path: str) -> None:
    """Remove a file, a link (not what it points to) or a tree."""
    if os.path.isdir(path) and not os.path.islink(path):
        shutil.rmtree(path)
    else:
        os.unlink(path)
