#!/usr/bin/python
"""Removes the nodes of one host; the action plugin of the same name describes them."""

from __future__ import annotations

import json

from ansible.module_utils.basic import AnsibleModule
from ansible_collections.kcluster.kafka.plugins.module_utils.errors import HostRefusedError
from ansible_collections.kcluster.kafka.plugins.module_utils.removal import remove_all, survey

DOCUMENTATION = r"""
module: destroyed
short_description: Removes the nodes of a cluster from a host
description:
  - Stops, disables and removes the units, then what we put into the directories for programs, configuration and logs,
    and what our nodes wrote there. What is not ours stays, and so do the account and, unless asked for, the data.
  - With O(delete_data) the content of each data directory goes whose C(meta.properties) or C(myid) says that it is
    this node's and this cluster's. A directory with anything else in it, with something mounted in it, or behind a
    symbolic link is left as it is. The directories themselves stay. Of what executors of Spark left, that goes which
    has the names that Spark gives.
options:
  part:
    description: What to remove; V(look) only surveys the host.
    type: str
    choices: [look, workers, masters, brokers, keepers, host]
    required: true
  confirm:
    description: The name of the cluster, or nothing is done.
    type: str
    required: true
  delete_data:
    description: Whether the data goes too.
    type: bool
    default: false
  looks:
    description: What O(part=look) returned on all hosts; from this the id of a cluster with ZooKeeper is known.
    type: list
    elements: dict
  question:
    description: Made by the action plugin.
    type: str
attributes:
  check_mode:
    support: full
author:
  - the kcluster project
"""

EXAMPLES = r"""
- name: Survey the host, and refuse what is not ours
  kcluster.kafka.destroyed:
    part: look
    confirm: "{{ kafka_destroy_confirm }}"
  register: kafka_destroy_look
"""

RETURN = r"""
found:
  description: With V(look) the survey.
  type: dict
  returned: with O(part=look)
removed:
  description: What was removed, or in check mode would be.
  type: list
  elements: str
  returned: otherwise
refused:
  description: Data directories that were left as they are, with the reason.
  type: list
  elements: str
  returned: otherwise
"""

PARTS = ["look", "workers", "masters", "brokers", "keepers", "host"]


def main() -> None:
    """Survey the host, or remove one part of the cluster."""
    module = AnsibleModule(
        argument_spec={
            "part": {"type": "str", "required": True, "choices": PARTS},
            "confirm": {"type": "str", "required": True},
            "delete_data": {"type": "bool", "default": False},
            "looks": {"type": "list", "elements": "dict"},
            "question": {"type": "str"},
        },
        supports_check_mode=True,
    )
    question = json.loads(module.params["question"])
    if module.params["part"] == "look":
        found = survey(question)
        if found["strangers"]:
            module.fail_json(msg="; ".join(found["strangers"]) + ": this host serves another cluster")
        module.exit_json(changed=False, found=found)
    try:
        answer = remove_all(question, changing=not module.check_mode)
    except (HostRefusedError, OSError) as problem:
        module.fail_json(msg=str(problem))
    module.exit_json(changed=bool(answer["removed"]), **answer)


if __name__ == "__main__":
    main()
