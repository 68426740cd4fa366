"""A user without the right is told so, and what to ask for."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import pytest
from confluent_kafka.admin import (
    AclBinding,
    AclOperation,
    AclPermissionType,
    AdminClient,
    ResourcePatternType,
    ResourceType,
)

from tests.integration.conftest import Live


def only_look(operation: AclOperation) -> AclBinding:
    """A right on the topic `secret`; with one given, Kafka refuses every other."""
    pattern = (ResourceType.TOPIC, "secret", ResourcePatternType.LITERAL)
    return AclBinding(*pattern, "User:ANONYMOUS", "*", operation, AclPermissionType.ALLOW)


@pytest.fixture
def guarded(own: Callable[..., Live], tmp_path: Path) -> Live:
    """A cluster with an authorizer, in which everybody may only look at the topic `secret`."""
    inventory = tmp_path / "inventory.yml"
    inventory.write_text("""\
all:
  vars:
    ansible_connection: local
    kcluster_name: own
    kafka_config:
      authorizer.class.name: kafka.security.authorizer.AclAuthorizer
      allow.everyone.if.no.acl.found: true
  children:
    zookeeper:
      hosts: {keeper: {zookeeper_id: 1}}
    kafka_broker:
      hosts: {broker: {kafka_broker_id: 1}}
""")
    cluster = own("-i", str(inventory))
    cluster.run("topic", "create", "secret")
    admin = AdminClient({"bootstrap.servers": cluster.bootstrap})
    for future in admin.create_acls(
        [only_look(AclOperation.DESCRIBE), only_look(AclOperation.DESCRIBE_CONFIGS)]
    ).values():
        future.result(10)
    return cluster


def test_every_command_that_may_only_look_says_no_permission(guarded: Live) -> None:
    lines = [
        (["topic", "alter", "secret", "--partitions", "5", "--yes"], "", 4),
        (["produce", "secret"], "hello\n", 5),
        (["consume", "secret", "--from-beginning", "-n", "1"], "", 4),
    ]
    for line, stdin, code in lines:
        done = guarded.run(*line, input=stdin, check=False)
        assert done.returncode == code, f"{line}: {done.stdout}{done.stderr}"
        assert "error: " in done.stderr
        assert "permission" in done.stderr, f"{line}: {done.stderr}"
        assert "  try: " in done.stderr
