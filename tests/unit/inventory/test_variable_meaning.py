"""Names of other roles and of properties lead to the variable that means the same."""

from __future__ import annotations

from typing import Any

import pytest

from kcluster.inventory.foreign_variables import FOREIGN, FOREIGN_IDS
from kcluster.inventory.schema import VARIABLES
from kcluster.inventory.variable_meaning import meaning
from kcluster.model.finding import SNIPPET
from kcluster.model.snippet import Syntax


def resolution(name: str, value: Any) -> str:
    found = meaning(name, value)
    assert found
    return found.resolution.replace(SNIPPET, found.snippet.written(Syntax.YAML) if found.snippet else "")


@pytest.mark.parametrize(
    ("name", "value", "expected"),
    [
        ("kafka_log_dirs", "/a,/b", "replace it with `kafka_data_dirs: [/a, /b]`"),
        ("kafka_log_dirs", ["/a"], "replace it with `kafka_data_dirs: [/a]`"),
        ("kafka_log_dirs", "{{ x }}", "write kafka_data_dirs as a list, such as `kafka_data_dirs: [/data/1, /data/2]`"),
        ("kafka_data_log_dirs", "/a", "replace it with `kafka_data_dirs: [/a]`"),
        ("kafka_broker_custom_properties", {}, "rename it to kafka_config"),
        ("kafka_log_retention_hours", 7, "move it to kafka_config, as in `kafka_config: {log.retention.hours: 7}`"),
        ("amq_streams_broker_num_io_threads", 8, "move it to kafka_config, as in `kafka_config: {num.io.threads: 8}`"),
        ("amq_streams_zookeeper_max_client_cnxns", 0, "move it to zookeeper_config, as in"),
        ("kafka_zookeeper_connect", "zk1:2181", "remove it"),
        ("kafka_advertised_listeners", ["PLAINTEXT://b1:9092"], "use `advertised_host` and `advertised_port`"),
    ],
)
def test_a_name_leads_to_what_means_the_same(name: str, value: Any, expected: str) -> None:
    assert resolution(name, value).startswith(expected)


def test_no_password_is_shown() -> None:
    found = meaning("kafka_ssl_keystore_password", "hunter2")
    assert found
    assert "hunter2" not in repr(found)


@pytest.mark.parametrize("name", ["kafka_verison", "kafka_something_else", "my_own_variable"])
def test_a_name_of_no_role_and_no_property_has_no_meaning(name: str) -> None:
    assert meaning(name, 1) is None


def test_the_table_names_variables_of_kcluster_and_none_of_them_is_foreign() -> None:
    assert {foreign.variable for foreign in FOREIGN.values()} - {""} <= set(VARIABLES)
    assert set(FOREIGN_IDS.values()) <= set(VARIABLES)
    assert not set(FOREIGN) & set(VARIABLES)
    assert all(bool(foreign.variable) != bool(foreign.instead) for foreign in FOREIGN.values())
