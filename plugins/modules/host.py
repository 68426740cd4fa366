#!/usr/bin/python
# Apache License 2.0 (see LICENSE)
"""Prepares a host for Kafka and ZooKeeper."""

from __future__ import annotations

DOCUMENTATION = """
module: host
short_description: Prepare a host for Kafka and ZooKeeper
description:
  - Makes the account of the services, the directories for programs, configuration and logs, and sets what Kafka wants
    of the kernel where the host allows it; looks for Java first, and changes nothing on a host that lacks it.
  - What the host does not allow is said in RV(notes) and is no failure.
  - Everything but O(install_java) is read from the inventory by the action plugin.
options:
  install_java:
    description: Whether Java will be installed where it is missing; without it, a missing Java is a failure.
    type: bool
    default: false
  part:
    description: V(kafka), or V(spark) for the masters and workers of Spark.
    type: str
    choices: [kafka, spark]
    default: kafka
  user: {description: Given by the action plugin., type: str, required: true}
  group: {description: Given by the action plugin., type: str, required: true}
  install_dir: {description: Given by the action plugin., type: path, required: true}
  config_dir: {description: Given by the action plugin., type: path, required: true}
  log_dir: {description: Given by the action plugin., type: path, required: true}
  release: {description: Given by the action plugin., type: str, required: true}
  oldest_java: {description: Given by the action plugin., type: int, required: true}
  java_home: {description: Given by the action plugin., type: str, default: ''}
  path: {description: Given by the action plugin., type: str, default: ''}
  whose: {description: Given by the action plugin., type: dict, required: true}
author: [kcluster]
attributes:
  check_mode: {support: full, description: Says what would change.}
  diff_mode: {support: full, description: Shows accounts, directories and kernel settings that change.}
"""

EXAMPLES = """
- name: Prepare the host
  kcluster.kafka.host:
"""

RETURN = """
changes:
  description: What was done, or in check mode would be, a sentence each.
  type: list
  elements: str
  returned: success
java:
  description: The version of the Java that the units would start; empty when there is none.
  type: str
  returned: success
java_package:
  description: The package to install because Java is missing or too old; empty when it is not.
  type: str
  returned: success
notes:
  description: What the host does not allow, or what is only advised.
  type: list
  elements: str
  returned: success
"""

from ansible.module_utils.basic import AnsibleModule  # noqa: E402
from ansible_collections.kcluster.kafka.plugins.module_utils import host_preparation  # noqa: E402
from ansible_collections.kcluster.kafka.plugins.module_utils.errors import HostRefusedError  # noqa: E402
from ansible_collections.kcluster.kafka.plugins.module_utils.unit_owner import other_cluster  # noqa: E402

REQUIRED = {"required": True}


def main() -> None:
    """Prepare the host."""
    module = AnsibleModule(
        argument_spec={
            **{name: dict(REQUIRED, type="str") for name in ("user", "group", "release")},
            **{name: dict(REQUIRED, type="path") for name in ("install_dir", "config_dir", "log_dir")},
            "oldest_java": dict(REQUIRED, type="int"),
            "java_home": {"type": "str", "default": ""},
            "path": {"type": "str", "default": ""},
            "whose": dict(REQUIRED, type="dict"),
            "install_java": {"type": "bool", "default": False},
        },
        supports_check_mode=True,
    )
    other = other_cluster(module.params["whose"])
    if other:
        module.fail_json(msg=other)
    try:
        module.exit_json(**host_preparation.ensure(module.params, module.check_mode))
    except HostRefusedError as problem:
        module.fail_json(msg=str(problem))
    except OSError as problem:
        module.fail_json(msg=f"{problem.filename or 'the host'}: {problem.strerror or problem}")


if __name__ == "__main__":
    main()
