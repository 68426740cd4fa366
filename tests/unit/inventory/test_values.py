"""Values are read as their type, or refused with what was found and what is wanted."""

from __future__ import annotations

from typing import Any

import pytest

from kcluster.inventory.schema import VariableType
from kcluster.inventory.values import Faults, read
from kcluster.model.topic import Topic


@pytest.mark.parametrize(
    ("kind", "written", "meant"),
    [
        (VariableType.TEXT, 2.13, "2.13"),
        (VariableType.INTEGER, "7", 7),
        (VariableType.PORT, 65535, 65535),
        (VariableType.PATH, "/data/", "/data"),
        (VariableType.PATHS, ["/data/1", "/data/2"], ("/data/1", "/data/2")),
        (VariableType.HEAP, "4G", "4g"),
        (VariableType.PROPERTIES, {"a": True, "b": [1, 2], "c": 0.5}, {"a": "true", "b": "1,2", "c": "0.5"}),
        (
            VariableType.LISTENERS,
            [{"name": "out", "port": 9094, "protocol": "ssl"}],
            ({"name": "out", "port": 9094, "protocol": "SSL"},),
        ),
        (
            VariableType.TOPICS,
            [{"name": "t", "partitions": 2, "config": {"retention.ms": 5}}],
            (Topic("t", 2, 3, {"retention.ms": "5"}),),
        ),
    ],
)
def test_a_good_value_is_read(kind: VariableType, written: Any, meant: Any) -> None:
    faults: Faults = []
    assert (read(kind, written, faults), faults) == (meant, [])


@pytest.mark.parametrize(
    ("kind", "written", "told"),
    [
        (VariableType.TEXT, ["a"], "['a'] is not text"),
        (VariableType.INTEGER, True, "true is not a whole number from 0"),
        (VariableType.PORT, 0, "0 is not a port"),
        (VariableType.PATH, "data", "'data' is not an absolute path"),
        (VariableType.PATHS, "/data", "'/data' is not a list of absolute paths"),
        (VariableType.TEXTS, [], "[] is not a list"),
        (VariableType.HEAP, "4 g", "'4 g' is not a memory size"),
        (VariableType.PROPERTIES, {"a": None}, "a has no value"),
        (VariableType.PROPERTIES, {"log": {"dirs": 1}}, "{'dirs': 1} is not one value for log"),
        (VariableType.LISTENERS, [{"name": "9", "port": 1}], "'9' is not a listener name"),
        (VariableType.TOPICS, [{"name": "t", "partitions": "2"}], "'2' is not a value for partitions of topic t"),
        (VariableType.TOPICS, [{}], "{} is not a topic"),
    ],
)
def test_a_bad_value_is_told(kind: VariableType, written: Any, told: str) -> None:
    faults: Faults = []
    read(kind, written, faults)
    assert [fault.message for fault in faults] == [told]


@pytest.mark.parametrize(
    ("kind", "written", "told"),
    [
        (
            VariableType.PROPERTIES,
            {"ssl.keystore.password": "hunter2\n"},
            "******** is not one value for ssl.keystore.password",
        ),
        (VariableType.PROPERTIES, {"DB_PASSWORD": "hunter2\n"}, "******** is not one value for DB_PASSWORD"),
        (
            VariableType.PROPERTIES,
            {"ssl": {"key": {"password": "hunter2"}}},
            "{'key': {'password': '********'}} is not one",
        ),
        (VariableType.PROPERTIES, "ssl.key.password=hunter2", "******** is not a mapping of properties"),
        (VariableType.SECRET, ["hunter2"], "******** is not text"),
    ],
)
def test_no_secret_is_told_with_what_is_wrong_about_it(kind: VariableType, written: Any, told: str) -> None:
    faults: Faults = []
    read(kind, written, faults)
    assert [fault.message[: len(told)] for fault in faults] == [told]
    assert "hunter2" not in str(faults)
