"""Parses the value of a variable: a value of its type, or faults that name the value and the type."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kcluster.config.setting import HIDDEN, text
from kcluster.inventory import examples
from kcluster.inventory.schema import VariableType
from kcluster.model.finding import SNIPPET
from kcluster.model.listener import PROTOCOLS
from kcluster.model.release import Release
from kcluster.model.suggestions import meant
from kcluster.model.topic import Topic, name_fault

_HEAP = re.compile(r"[1-9]\d*[kmgKMG]")
_LISTENER_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_LISTENER_KEYS = ("name", "port", "protocol", "host", "advertised_host", "advertised_port")
_TOPIC_KEYS = ("name", "partitions", "replication_factor", "config")
_PROPERTIES = f"write {SNIPPET}, with the properties you mean"
_ONE_VALUE = "use one value, in quotes where YAML would read a number, a date or true/false"

Scalar = (str, int, float, bool)


@dataclass(frozen=True)
class ValueFault:
    """What is wrong with a value, at which key of it, and the fix."""

    message: str
    resolution: str = ""
    key: str = ""
    example: Any = None
    """A value of the type, for `{snippet}` in the resolution."""


Faults = list[ValueFault]


def read(kind: VariableType, value: Any, faults: Faults) -> Any:
    """The parsed value; None where it cannot be parsed, with the reason appended to `faults`."""
    return _READERS[kind](value, faults)


def shown(value: Any) -> str:
    """A value as YAML shows it, cut to 60 characters."""
    plain = text(value) if isinstance(value, bool) or value in (None, HIDDEN) else repr(value)
    plain = plain or "an empty value"
    return plain if len(plain) <= 60 else plain[:57] + "..."


def _without_secrets(key: str, value: Any) -> Any:
    """A value with its secrets hidden; nested keys are joined with dots to the name of a property."""
    from kcluster.config.escaping import masked  # lazily: a good inventory is read without the tables of properties

    if value and masked(key, "") == HIDDEN:
        return HIDDEN
    if isinstance(value, Mapping):
        return {inner: _without_secrets(f"{key}.{inner}" if key else str(inner), item) for inner, item in value.items()}
    return [_without_secrets(key, item) for item in value] if isinstance(value, list) else value


def _mismatch(
    faults: Faults, expected: str, value: Any, resolution: str = "", key: str = "", example: Any = None
) -> None:
    faults.append(ValueFault(f"{shown(value)} is not {expected}", resolution, key, example))


def _no_list(faults: Faults, expected: str, value: Any, example: list[Any]) -> None:
    how = "write a list, such as" if example in examples.GENERAL else "write"
    _mismatch(faults, expected, value, f"{how} {SNIPPET}", example=example)


def _text(value: Any, faults: Faults) -> str | None:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)) or value == "":
        _mismatch(faults, "text", value, _ONE_VALUE)
        return None
    return str(value)


def _version(value: Any, faults: Faults) -> str | None:
    if isinstance(value, float):
        message = f"{value} is a number, not a release: without quotes {value}0 is read as {value} too"
        faults.append(ValueFault(message, f"write the whole release in quotes: {SNIPPET}", example=Release().version))
        return None
    return _text(value, faults)


def _secret(value: Any, faults: Faults) -> str | None:
    secret = _text(value, [])
    if secret is None:
        _mismatch(faults, "text", value and HIDDEN, _ONE_VALUE)
    return secret


def _boolean(value: Any, faults: Faults) -> bool | None:
    boolean = {"true": True, "false": False}.get(text(value).lower())  # INI inventories give text
    if boolean is None:
        _mismatch(faults, "true or false", value, "use true or false")
    return boolean


def _integer(value: Any, faults: Faults) -> int | None:
    if isinstance(value, str) and value.isdecimal() and len(value) < 20:
        return int(value)  # INI inventories and environments give digits as text
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        _mismatch(faults, "a whole number from 0", value, "use a whole number, such as 1")
        return None
    return value


def _port(value: Any, faults: Faults) -> int | None:
    number = _integer(value, faults)
    if number is not None and not 1 <= number <= 65535:
        _mismatch(faults, "a port", value, "use a number from 1 to 65535")
        return None
    return number


def _path(value: Any, faults: Faults) -> str | None:
    if not isinstance(value, str) or not value.startswith("/"):
        _mismatch(faults, "an absolute path", value, "use a path that begins with /")
        return None
    return value.rstrip("/") or "/"


def _paths(value: Any, faults: Faults) -> tuple[str, ...] | None:
    if not isinstance(value, list) or not value:
        _no_list(faults, "a list of absolute paths", value, examples.paths(value))
        return None
    return tuple(path for item in value if (path := _path(item, faults)))


def _texts(value: Any, faults: Faults) -> tuple[str, ...] | None:
    if not isinstance(value, list) or not value:
        _no_list(faults, "a list", value, examples.texts(value))
        return None
    return tuple(word for item in value if (word := _text(item, faults)))


def _heap(value: Any, faults: Faults) -> str | None:
    if not isinstance(value, str) or not _HEAP.fullmatch(value):
        _mismatch(faults, "a memory size", value, "use a number with k, m or g, such as 512m or 4g")
        return None
    return value.lower()


def _properties(value: Any, faults: Faults) -> dict[str, str]:
    if not isinstance(value, Mapping):
        # Text with the content of a whole file, as vaulted files are, contains its passwords.
        _mismatch(faults, "a mapping of properties", value and HIDDEN, _PROPERTIES, example=examples.PROPERTIES)
        return {}
    return {str(key): text(item) for key, item in value.items() if _plain(str(key), item, faults)}


def _plain(key: str, value: Any, faults: Faults) -> bool:
    items = value if isinstance(value, list) else [value]
    if all(isinstance(item, Scalar) for item in items) and "\n" not in text(value):
        return True
    if value is None:
        faults.append(ValueFault(f"{key} has no value", f'set a value, or {key}: "" for an empty one', key))
    else:
        safe = _without_secrets(key, value)
        nested = isinstance(safe, Mapping) and key.islower()
        hint = f"write `{_flat(key, safe)}` on one line" if nested else f"write one value after {key}:"
        _mismatch(faults, f"one value for {key}", safe, hint, key)
    return False


def _flat(key: str, value: Any) -> str:
    """The first property of a nested dictionary as it should have been written."""
    while isinstance(value, Mapping) and value:
        inner, value = next(iter(value.items()))
        key = f"{key}.{inner}"
    return f"{key}: {text(value)}"


def _listeners(value: Any, faults: Faults) -> tuple[dict[str, Any], ...]:
    if not isinstance(value, list) or not value or any(isinstance(item, str) for item in value):
        _no_list(faults, "a list of listeners", value, examples.listeners(value))
        return ()
    return tuple(listener for item in value if (listener := _listener(item, faults)))


def _listener(value: Any, faults: Faults) -> dict[str, Any] | None:
    entry = _entry(value, _LISTENER_KEYS, "listener", faults)
    name, protocol = str(entry.get("name", "")), str(entry.get("protocol", "PLAINTEXT"))
    if entry and not _LISTENER_NAME.fullmatch(name):
        _mismatch(faults, "a listener name", name, "use a letter, then letters, digits, `_` and `-`", name)
    if protocol.upper() not in PROTOCOLS:
        near = meant(protocol.upper(), PROTOCOLS)
        _mismatch(
            faults,
            f"a protocol for listener {name}",
            protocol,
            f"use {near}" if near else f"use one of {', '.join(PROTOCOLS)}",
            name,
        )
    ports: dict[str, Any] = {key: _port(entry[key], faults) for key in ("port", "advertised_port") if key in entry}
    if entry and "port" not in entry:
        faults.append(ValueFault(f"listener {name} has no port", "add `port: 9092`", name))
    return {**entry, **ports, "name": name, "protocol": protocol.upper()} if ports.get("port") else None


def _topics(value: Any, faults: Faults) -> tuple[Topic, ...]:
    if not isinstance(value, list):
        _no_list(faults, "a list of topics", value, examples.topics(value))
        return ()
    return tuple(topic for item in value if (topic := _topic(item, faults)))


def _topic(value: Any, faults: Faults) -> Topic | None:
    entry = _entry(value, _TOPIC_KEYS, "topic", faults)
    if not entry:
        return None
    name = str(entry.get("name", ""))
    if fault := name_fault(name):
        faults.append(ValueFault(f"{shown(name)} is not a topic name: {fault}", "rename the topic", name))
    counts = {
        key: _count(entry[key], key, name, faults) for key in ("partitions", "replication_factor") if key in entry
    }
    return Topic(name, config=_properties(entry.get("config", {}), faults), **counts)


def _count(value: Any, key: str, topic: str, faults: Faults) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        _mismatch(faults, f"a value for {key} of topic {topic}", value, "use a whole number from 1", topic)
        return 1
    return value


def _entry(value: Any, keys: tuple[str, ...], what: str, faults: Faults) -> dict[str, Any]:
    """One entry of a list with its known keys; a fault for each unknown one."""
    if not isinstance(value, Mapping) or not value:
        _mismatch(faults, f"a {what}", value, f"use the keys {', '.join(keys)}")
        return {}
    for key in value:
        if key not in keys:
            near = meant(str(key), keys)
            hint = f"did you mean {near}?" if near else f"use the keys {', '.join(keys)}"
            faults.append(ValueFault(f"unknown key {key} of a {what}", hint, str(key)))
    return {key: value[key] for key in keys if key in value}


_READERS: Mapping[VariableType, Callable[[Any, Faults], Any]] = {
    VariableType.TEXT: _text,
    VariableType.VERSION: _version,
    VariableType.SECRET: _secret,
    VariableType.BOOLEAN: _boolean,
    VariableType.INTEGER: _integer,
    VariableType.PORT: _port,
    VariableType.PATH: _path,
    VariableType.PATHS: _paths,
    VariableType.TEXTS: _texts,
    VariableType.HEAP: _heap,
    VariableType.PROPERTIES: _properties,
    VariableType.LISTENERS: _listeners,
    VariableType.TOPICS: _topics,
}
