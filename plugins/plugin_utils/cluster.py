"""What every plugin of the collection reads: the cluster of the inventory, and the nodes of one host."""

from __future__ import annotations

import json
import os
import sys
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from ansible import context
from ansible.errors import AnsibleActionFail

_OWN = Path(__file__).resolve().parents[2] / "cli"
if _OWN.is_dir() and str(_OWN) not in sys.path:
    sys.path.insert(0, str(_OWN))  # the collection brings the package; beside an installed kcluster it comes first

from kcluster.ansible_api import (  # noqa: E402
    VARIABLES,
    Cluster,
    KclusterError,
    Kind,
    Node,
    Part,
    agreed,
    cluster_of,
    load,
)

_OF_ROLES = {"kafka_install_java"}
"""Variables that a role takes from any place."""


def cluster(task_vars: Mapping[str, Any]) -> Cluster:
    """The cluster that the inventory of this run describes; a clear error when it is refused."""
    _refuse_extra_variables()
    _pass_vault_passwords()
    try:
        loaded = load(_source(task_vars))
        _refuse_variables_of_plays(task_vars, loaded.data)
        return agreed(cluster_of(loaded))
    except KclusterError as problem:
        raise failure(problem) from problem


def nodes(cluster: Cluster, host: str, kinds: tuple[Kind, ...] = tuple(Kind)) -> tuple[Node, ...]:
    """The nodes of one host, ZooKeeper servers and controllers first."""
    return tuple(node for node in cluster.every_node if node.host.name == host and node.kind in kinds)


def part(cluster: Cluster, args: Mapping[str, Any]) -> Part:
    """What of the cluster a task is about: Kafka, unless its argument `part` says spark."""
    wanted = str(args.get("part", "kafka"))
    if wanted not in ("kafka", "spark"):
        raise AnsibleActionFail(f"there is no part {wanted}\ntry: kafka or spark")
    if wanted == "kafka":
        return cluster
    if cluster.engine is None:
        raise AnsibleActionFail(
            f"{cluster.name} has no Spark\ntry: put hosts into the groups spark_master and spark_worker"
        )
    return cluster.engine


def failure(problem: KclusterError) -> AnsibleActionFail:
    """An error of kcluster as Ansible shows it: what happened, the details, what to do."""
    details = "\n".join(f"  {line}" for line in problem.details.splitlines())
    advice = f"try: {problem.resolution}" if problem.resolution else ""
    return AnsibleActionFail("\n".join(part for part in (problem.message, details, advice) if part))


def _source(task_vars: Mapping[str, Any]) -> Path:
    """The one inventory of this run: a cluster is described in one place."""
    sources = [str(source) for source in task_vars.get("ansible_inventory_sources") or ()]
    if len(sources) == 1 and Path(sources[0]).exists():
        return Path(sources[0])
    given = ", ".join(sources) or "none"
    raise AnsibleActionFail(
        f"kcluster reads the cluster from one inventory, a file or a folder; given: {given}\n"
        "try: put everything into one folder, and name that folder: ansible-playbook -i FOLDER ..."
    )


def _refuse_extra_variables() -> None:
    """Refuse a variable given with -e: it would change this run, and no later one knows of it."""
    from ansible.parsing.dataloader import DataLoader
    from ansible.utils.vars import load_extra_vars

    given = sorted(set(load_extra_vars(DataLoader())) & set(VARIABLES))
    if given:
        raise AnsibleActionFail(
            f"{', '.join(given)}: given with -e, but set in the inventory only\ntry: write it there"
        )


def _refuse_variables_of_plays(task_vars: Mapping[str, Any], data: Mapping[str, Any]) -> None:
    """Refuse a variable that a play, a role or a task sets: it would be ignored."""
    host = str(task_vars.get("inventory_hostname", ""))
    groups = [group.get("vars", {}) for name, group in data.items() if name != "_meta"]
    levels = [data["_meta"]["hostvars"].get(host, {}), *groups]
    given = {name: _plain(task_vars[name]) for name in VARIABLES if name in task_vars and name not in _OF_ROLES}
    written = {name: [_plain(level[name]) for level in levels if name in level] for name in given}
    if ignored := sorted(name for name, value in given.items() if value not in written[name]):
        raise AnsibleActionFail(
            f"{', '.join(ignored)}: set by a play, a role or a task, where it would be ignored\n"
            "try: write it in the inventory: group_vars, host_vars, or the host's line"
        )


def _plain(value: Any) -> Any:
    """A value without what Ansible notes on it."""
    return _ended(json.loads(json.dumps(value, default=str)))


def _ended(value: Any) -> Any:
    """A value without the line break at the end of a text: kcluster takes it off what was vaulted, Ansible does not."""
    if isinstance(value, dict):
        return {key: _ended(item) for key, item in value.items()}
    if isinstance(value, list):
        return [_ended(item) for item in value]
    return value.removesuffix("\n") if isinstance(value, str) else value


def _pass_vault_passwords() -> None:
    """The vault passwords of this run's command line, for the Ansible that reads the inventory once more."""
    files = context.CLIARGS.get("vault_password_files") or ()
    given = [*(context.CLIARGS.get("vault_ids") or ()), *(f"default@{file}" for file in files)]
    identities = [each for each in given if not each.endswith("@prompt")]  # it cannot be asked twice
    if identities:
        os.environ["ANSIBLE_VAULT_IDENTITY_LIST"] = ",".join(identities)
