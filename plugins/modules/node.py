#!/usr/bin/python
"""Installs and starts the nodes of one host; the action plugin of the same name describes them."""

from __future__ import annotations

import json
import os
import subprocess
from collections.abc import Callable
from typing import Any, Dict

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.kcluster.kafka.plugins.module_utils import release
from ansible_collections.kcluster.kafka.plugins.module_utils.disk_identity import formatted, refusal
from ansible_collections.kcluster.kafka.plugins.module_utils.errors import HostRefusedError
from ansible_collections.kcluster.kafka.plugins.module_utils.files import drift, make_directory, read, write
from ansible_collections.kcluster.kafka.plugins.module_utils.sealing import sealed
from ansible_collections.kcluster.kafka.plugins.module_utils.systemd import Units
from ansible_collections.kcluster.kafka.plugins.module_utils.unit_owner import other_cluster

DOCUMENTATION = r"""
module: node
short_description: Configures and starts the nodes of Kafka and Spark on a host
description:
  - Compares units, C(myid), C(meta.properties) and mounts with the inventory before anything is touched, and refuses
    units and disks of another node or cluster, or with foreign data.
  - Makes directories, writes configuration, logging, environment and unit files whole or not at all, formats the
    storage of KRaft nodes once, also directories that a running node gets with its next restart, enables the units, and
    starts those that do not run.
  - A running node is never restarted; RV(restart_needed) says which were started with something else.
  - What is written comes from the variables of the inventory, see the documentation of the collection.
options:
  kinds:
    description: Which nodes of the host; those of Kafka when not given.
    type: list
    elements: str
    choices: [zookeeper, controller, broker, spark-master, spark-worker]
  state:
    description: V(prepared) does everything but start.
    type: str
    choices: [started, prepared]
    default: started
  wanted:
    description: Made by the action plugin.
    type: str
attributes:
  check_mode:
    support: full
    description: Also on hosts without the account and the release.
  diff_mode:
    support: full
    description: Secrets are shown as C(********).
author:
  - the kcluster project
"""

EXAMPLES = r"""
- name: Run the ZooKeeper server of each host
  kcluster.kafka.node:
    kinds: [zookeeper]
"""

RETURN = r"""
changes:
  description: What was done, or in check mode would be, a sentence each.
  type: list
  elements: str
  returned: always
started:
  description: The nodes that were started.
  type: list
  elements: str
  returned: always
stopped:
  description: The kinds of nodes that did not run when the task began.
  type: list
  elements: str
  returned: always
restart_needed:
  description: Running nodes whose process was started with something else, and why.
  type: dict
  returned: always
"""

RUN = "/run"
KINDS = ["zookeeper", "controller", "broker", "spark-master", "spark-worker"]


Node = Dict[str, Any]


class NodeHost:
    """The nodes of this host, and what was changed for them."""

    def __init__(self, module: Any, nodes: list[Node], units: Units) -> None:
        self.module = module
        self.nodes = nodes
        self.units = units
        self.changes: list[str] = []
        self.differing: list[dict[str, Any]] = []

    def bring_up(self, start: bool) -> dict[str, Any]:
        """Everything, in the only safe order: refuse, write, format, enable, start."""
        for wanted in (*once(self.nodes, "directories"), *once(self.nodes, "files")):
            drift(wanted)  # refuses what lies behind a link of a service
        others = [other_cluster(node["whose"]) for node in self.nodes]
        refusals = [reason for reason in (*others, *map(refusal, self.nodes)) if reason]
        if refusals:
            raise HostRefusedError("; ".join(refusals))
        stopped = [node for node in self.nodes if not self.units.running(node["unit"])]
        self.make_directories()
        self.link([node for node in self.nodes if node not in stopped])
        written = self.write_files()
        self.format([node for node in self.nodes if node["format"]])
        self.make_known(written)
        if start:
            self.start(stopped)
        return {
            "stopped": [node["kind"] for node in stopped],
            "started": [node["name"] for node in stopped] if start else [],
            "kept": {node["name"]: kept(node) for node in self.nodes if node not in stopped},
        }

    def make_directories(self) -> None:
        """Make the directories that are missing, or whose owner or mode differs."""
        for wanted in once(self.nodes, "directories"):
            if self.note(wanted, "directory"):
                self.do(make_directory, wanted)

    def link(self, running: list[Node]) -> None:
        """Let each unit start the wanted release; one that runs what it runs now, until its turn to be restarted."""
        for node in self.nodes:
            install_dir, name = os.path.split(node["release_dir"])
            before = kept_release(node) if node in running else ""
            if before and release.installed(install_dir, before):
                name = before
            if release.pointed(node["link"]) != name:
                self.changes.append(f"let {node['link']} be {name}")
                self.do(release.point, node["link"], name)

    def write_files(self) -> list[str]:
        """Write the files that differ; returns their paths."""
        written = []
        for wanted in once(self.nodes, "files"):
            if self.note(wanted, "file"):
                self.do(write, wanted)
                written.append(wanted["path"])
        return written

    def note(self, wanted: dict[str, Any], what: str) -> bool:
        """Whether a file or directory differs from what is wanted; notes how."""
        found = drift(wanted)
        if found:
            self.changes.append(f"{'change' if found['attributes'] else 'make'} {wanted['path']}")
            self.differing.append(dict(found, what=what))
        return found is not None

    def format(self, nodes: list[Node]) -> None:
        """Give the data directories of KRaft nodes the cluster's id, unless they have one; all nodes at once.

        A node that runs does not look into a directory it was not started with, and would not start with a bare one.
        """
        fresh = [node for node in nodes if not all(map(formatted, node["data_dirs"]))]
        self.changes += [f"format the storage of {node['name']}" for node in fresh]
        running = [] if self.module.check_mode else [(node, begin_format(node)) for node in fresh]
        for node, process in running:
            output = process.communicate()[0].decode(errors="replace")
            if process.returncode:
                raise HostRefusedError(f"the storage of {node['name']} cannot be formatted: {output.strip()}")

    def make_known(self, written: list[str]) -> None:
        """Let systemd read changed units, and enable those that are not."""
        names = [node["unit"] for node in self.nodes]
        to_enable = [name for name in names if not self.units.enabled(name)]
        changed = any(path.endswith(".service") for path in written) or any(map(self.units.stale, names))
        self.changes += [f"enable {name}" for name in to_enable]
        self.do(self.units.make_known, changed, to_enable)

    def start(self, nodes: list[Node]) -> None:
        """Start these nodes."""
        self.changes += [f"start {node['unit']}" for node in nodes]
        if nodes:
            self.do(self.units.start, [node["unit"] for node in nodes])

    def do(self, change: Callable[..., None], *args: Any) -> None:
        """Make a change, unless this is check mode."""
        if not self.module.check_mode:
            change(*args)


def once(nodes: list[Node], key: str) -> list[dict[str, Any]]:
    """The files or directories of all nodes, each path once."""
    return list({wanted["path"]: wanted for node in nodes for wanted in node[key]}.values())


def begin_format(node: Node) -> subprocess.Popen[bytes]:
    """Start Kafka's own tool as the service user, because it makes files that the server must be able to write."""
    tool = os.path.join(node["release_dir"], "bin", "kafka-storage.sh")
    if not os.path.exists(tool):
        raise HostRefusedError(f"{tool} is missing; the role kcluster.kafka.release brings it")
    become = ["setpriv", "--reuid", node["user"], "--regid", node["group"], "--init-groups", "--"]
    command = [tool, "format", f"-t={node['cluster_id']}", f"-c={node['config_file']}", "--ignore-formatted"]
    environment = dict(node["environment"], KAFKA_HEAP_OPTS="-Xmx256m", LOG_DIR=node["log_dir"])
    return subprocess.Popen(
        become + command,
        cwd="/",
        env=environment,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.STDOUT,
    )


def kept(node: Node) -> dict[str, Any]:
    """What the running process was started with: the release, and the files that are not the wanted ones."""
    folder = os.path.join(RUN, node["unit"])
    texts = {file["path"]: read(os.path.join(folder, os.path.basename(file["path"]))) for file in node["files"]}
    watched = {file["path"]: file["text"] for file in node["files"] if file["kept"]}
    return {
        "release": kept_release(node),
        "files": {path: texts[path] for path, text in watched.items() if texts[path] != text},
    }


def kept_release(node: Node) -> str:
    """The release that the running process was started from; nothing where that was not kept."""
    return os.path.basename((read(os.path.join(RUN, node["unit"], "release")) or "").strip())


def main() -> None:
    """Do what the action plugin asks for."""
    spec = {
        # One text, not a structure: Ansible hides the values of a secret argument wherever they occur in the answer.
        "wanted": {"type": "str", "no_log": True},
        "kinds": {"type": "list", "elements": "str", "choices": KINDS},
        "state": {"type": "str", "choices": ["started", "prepared"], "default": "started"},
    }
    module = AnsibleModule(argument_spec=spec, supports_check_mode=True)
    wanted = json.loads(module.params["wanted"])
    nodes = wanted["nodes"]
    host = NodeHost(module, nodes, Units(module.run_command, [node["unit"] for node in nodes]))
    try:
        found, end = host.bring_up(module.params["state"] == "started"), module.exit_json
    except (HostRefusedError, OSError) as problem:
        found, end = {"msg": str(problem)}, module.fail_json
    texts = json.dumps({"differing": host.differing, "kept": found.pop("kept", {})})
    end(changed=bool(host.changes), changes=host.changes, sealed=sealed(texts, wanted["key"]), **found)


if __name__ == "__main__":
    main()
