#!/usr/bin/python
# Apache License 2.0 (see LICENSE)
"""The release of a host: whether it is there, and the link `current`."""

from __future__ import annotations

DOCUMENTATION = """
module: release
short_description: Install the Kafka release of the inventory on a host
description:
  - The release is fetched once on the control node, pushed to hosts that do not have it, and verified there by its
    SHA-512; a second run moves no bytes.
  - It is unpacked beside its place and renamed, so that it is there as a whole or not at all; C(current) points to it.
    Older releases stay, and running processes keep the release they were started with.
  - Which release, and where it goes, is read from the inventory.
options:
  install_dir:
    description: Where releases are installed; given by the action plugin.
    type: path
    required: true
  part:
    description: V(kafka), or V(spark) for the masters and workers of Spark.
    type: str
    choices: [kafka, spark]
    default: kafka
  name:
    description: The name of the release's folder; given by the action plugin.
    type: str
    required: true
  whose:
    description: Whose units may be there; given by the action plugin.
    type: dict
    required: true
author: [kcluster]
attributes:
  check_mode: {support: full, description: Says what would be installed, and moves nothing.}
  diff_mode: {support: full, description: Shows which release is installed and which one C(current) points to.}
"""

EXAMPLES = """
- name: Install the release
  kcluster.kafka.release:
"""

RETURN = """
missing:
  description: Whether the release is not on the host; after a run, only in check mode.
  type: bool
  returned: always
moved_bytes:
  description: What was sent to the host.
  type: int
  returned: always
"""

import os  # noqa: E402
import sys  # noqa: E402
from typing import Any  # noqa: E402

from ansible.module_utils.basic import AnsibleModule  # noqa: E402
from ansible_collections.kcluster.kafka.plugins.module_utils import release  # noqa: E402
from ansible_collections.kcluster.kafka.plugins.module_utils.errors import HostRefusedError  # noqa: E402
from ansible_collections.kcluster.kafka.plugins.module_utils.unit_owner import other_cluster  # noqa: E402


def main() -> None:
    """Report what is installed; let `current` point to the release when it is."""
    module = AnsibleModule(
        argument_spec={
            "install_dir": {"type": "path", "required": True},
            "name": {"type": "str", "required": True},
            "whose": {"type": "dict", "required": True},
        },
        supports_check_mode=True,
    )
    other = other_cluster(module.params["whose"])
    if other:
        module.fail_json(msg=other)
    install_dir, name = module.params["install_dir"], module.params["name"]
    try:
        module.exit_json(**ensure(install_dir, name, module.check_mode))
    except HostRefusedError as problem:
        module.fail_json(msg=str(problem))
    except OSError as problem:
        module.fail_json(msg=release.os_error(problem, install_dir, name))


def ensure(install_dir: str, name: str, check_mode: bool) -> dict[str, Any]:
    """What is installed; `current` is changed when only that is missing."""
    link = os.path.join(install_dir, release.CURRENT)
    known, before = release.installed(install_dir, name), release.pointed(link)
    left = release.leftovers(install_dir)
    if known and not check_mode and (left or before != name):
        with release.locked(install_dir):
            release.clear(install_dir)
            release.point(link, name)
    return {
        "changed": not known or before != name or bool(left),
        "missing": not known,
        "sha512": known,
        "free_bytes": release.free_bytes(install_dir),
        "python": sys.executable,
        "diff": changes(install_dir, name, known, before, left),
    }


def changes(install_dir: str, name: str, known: str, before: str, left: list[str]) -> list[dict[str, str]]:
    """What changes, as before and after."""
    parts = []
    if not known:
        parts.append(change(install_dir, "", name))
    if before != name:
        parts.append(change(f"{install_dir}/{release.CURRENT}", before, name))
    return parts + [change(f"{install_dir}/{folder}", "left behind", "") for folder in left]


def change(header: str, before: str, after: str) -> dict[str, str]:
    """One change as Ansible shows it."""
    texts = {"before": before and before + "\n", "after": after and after + "\n"}
    return dict(texts, before_header=header, after_header=header)


if __name__ == "__main__":
    main()
