"""Values are read as their type, or refused with what was found and what is wanted."""

from __future__ import annotations

from typing import Any

import pytest

from kcluster.inventory.values import Fault, Faults, read
from kcluster.model.topic import Topic
from kcluster.model.words import Type


@pytest.mark.parametrize(
    ("kind", "written", "meant"),
    [
        (Type.TEXT, 2.13, "2.13"),
        (Type.INTEGER, "7", 7),
        (Type.PORT, 65535, 65535),
        (Type.PATH, "/data/", "/data"),
        (Type.PATHS, ["/data/1", "/data/2"], ("/data/1", "/data/2")),
        (Type.HEAP, "4G", "4g"),
        (Type.PROPERTIES, {"a": True, "b": [1, 2], "c": 0.5}, {"a": "true", "b": "1,2", "c": "0.5"}),
        (
            Type.LISTENERS,
            [{"name": "out", "port": 9094, "protocol": "ssl"}],
            ({"name": "out", "port": 9094, "protocol": "SSL"},),
        ),
        (
            Type.TOPICS,
            [{"name": "t", "partitions": 2, "config": {"retention.ms": 5}}],
            (Topic("t", 2, 3, {"retention.ms": "5"}),),
        ),
    ],
)
def test_a_good_value_is_read(kind: Type, written: Any, meant: Any) -> None:
    faults: Faults = []
    assert (read(kind, written, faults), faults) == (meant, [])


@pytest.mark.parametrize(
    ("kind", "written", "told"),
    [
        (Type.TEXT, ["a"], "['a'] is not a text"),
        (Type.INTEGER, True, "true is not a whole number from 0"),
        (Type.PORT, 0, "0 is not a port"),
        (Type.PATH, "data", "'data' is not an absolute path"),
        (Type.PATHS, "/data", "'/data' is not a list of absolute paths"),
        (Type.TEXTS, [], "[] is not a list"),
        (Type.HEAP, "4 g", "'4 g' is not a memory size"),
        (Type.PROPERTIES, {"a": None}, "a has no value"),
        (Type.PROPERTIES, {"log": {"dirs": 1}}, "{'dirs': 1} is not one value for log"),
        (Type.LISTENERS, [{"name": "9", "port": 1}], "'9' is not a listener's name"),
        (Type.TOPICS, [{"name": "t", "partitions": "2"}], "'2' is not a number for partitions of topic t"),
        (Type.TOPICS, [{}], "{} is not a topic"),
    ],
)
def test_a_bad_value_is_told(kind: Type, written: Any, told: str) -> None:
    faults: Faults = []
    read(kind, written, faults)
    assert [fault.message for fault in faults] == [told]


@pytest.mark.parametrize(
    ("kind", "written", "told"),
    [
        (
            Type.PROPERTIES,
            {"ssl.keystore.password": "hunter2\n"},
            "******** is not one value for ssl.keystore.password",
        ),
        (Type.PROPERTIES, {"DB_PASSWORD": "hunter2\n"}, "******** is not one value for DB_PASSWORD"),
        (Type.PROPERTIES, {"ssl": {"key": {"password": "hunter2"}}}, "{'key': {'password': '********'}} is not one"),
        (Type.PROPERTIES, "ssl.key.password=hunter2", "******** is not a dictionary of properties"),
        (Type.PROPERTIES, {"ssl.key.password": "hunter2{{"}, "******** is a template"),
        (Type.PROPERTIES, {"ssl.key.password": "{{ key_password }}"}, "{{ key_password }} is a template"),
        (Type.SECRET, ["hunter2"], "******** is not a text"),
        (Type.SECRET, "hunter2{{", "******** is a template"),
    ],
)
def test_no_secret_is_told_with_what_is_wrong_about_it(kind: Type, written: Any, told: str) -> None:
    faults: Faults = []
    read(kind, written, faults)
    assert [fault.message[: len(told)] for fault in faults] == [told]
    assert "hunter2" not in str(faults)


def test_a_template_is_found_wherever_it_hides() -> None:
    faults: Faults = []
    assert read(Type.PROPERTIES, {"a": ["b", "{{ c }}"]}, faults) is None
    assert faults == [
        Fault(
            "{{ c }} is a template; kcluster reads values before Ansible fills templates in", "write the value itself"
        )
    ]
