"""Reads the value of a word: the right type, or a fault that says what was found and what is wanted."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from kcluster.config.setting import HIDDEN, text
from kcluster.inventory.schema import VariableType
from kcluster.model.listener import PROTOCOLS
from kcluster.model.suggestions import meant
from kcluster.model.topic import Topic, name_fault

_HEAP = re.compile(r"[1-9]\d*[kmgKMG]")
_REFERENCE = re.compile(r"\s*\{\{[\s\w.]*\}\}\s*")
_LISTENER_NAME = re.compile(r"[A-Za-z][A-Za-z0-9_-]*")
_LISTENER_KEYS = ("name", "port", "protocol", "host", "advertised_host", "advertised_port")
_TOPIC_KEYS = ("name", "partitions", "replication_factor", "config")
_ONE_WORD = "write one word, in quotes when YAML would read it as something else"

Scalar = (str, int, float, bool)


@dataclass(frozen=True)
class ValueFault:
    """What is wrong with a value, at which key of it, and what to write instead."""

    message: str
    resolution: str = ""
    key: str = ""


Faults = list[ValueFault]


def read(kind: VariableType, value: Any, faults: Faults) -> Any:
    """The value as its type, or None and the faults."""
    if template_in(value):
        found = template_in(_without_secrets("secret" if kind is VariableType.SECRET else "", value))
        faults.append(
            ValueFault(
                f"{found or HIDDEN} is a template; kcluster reads values before Ansible fills templates in",
                "write the value itself",
            )
        )
        return None
    return _READERS[kind](value, faults)


def template_in(value: Any) -> str:
    """The first text in a value that Ansible would still have to fill in."""
    if isinstance(value, str):
        return value.strip() if "{{" in value or "{%" in value else ""
    if isinstance(value, Mapping):
        value = list(value.values())
    if isinstance(value, list):
        return next((found for item in value if (found := template_in(item))), "")
    return ""


def shown(value: Any) -> str:
    """A value as YAML would show it, short enough for one line."""
    plain = text(value) if isinstance(value, bool) or value in (None, HIDDEN) else repr(value)
    plain = plain or "nothing"
    return plain if len(plain) <= 60 else plain[:57] + "..."


def _without_secrets(key: str, value: Any) -> Any:
    """What is written at a key as a finding may show it; keys within keys are meant as one name with dots."""
    from kcluster.config.escaping import masked  # lazily: a good inventory is read without the tables of properties

    if value and masked(key, "") == HIDDEN and not (isinstance(value, str) and _REFERENCE.fullmatch(value)):
        return HIDDEN
    if isinstance(value, Mapping):
        return {inner: _without_secrets(f"{key}.{inner}" if key else str(inner), item) for inner, item in value.items()}
    return [_without_secrets(key, item) for item in value] if isinstance(value, list) else value


def _wanted(faults: Faults, wanted: str, value: Any, resolution: str = "", key: str = "") -> None:
    faults.append(ValueFault(f"{shown(value)} is not {wanted}", resolution, key))


def _text(value: Any, faults: Faults) -> str | None:
    if isinstance(value, bool) or not isinstance(value, (str, int, float)) or value == "":
        _wanted(faults, "a text", value, _ONE_WORD)
        return None
    return str(value)


def _secret(value: Any, faults: Faults) -> str | None:
    read = _text(value, [])
    if read is None:
        _wanted(faults, "a text", value and HIDDEN, _ONE_WORD)
    return read


def _boolean(value: Any, faults: Faults) -> bool | None:
    told = {"true": True, "false": False}.get(text(value).lower())  # INI inventories give text
    if told is None:
        _wanted(faults, "true or false", value, "write true or false")
    return told


def _integer(value: Any, faults: Faults) -> int | None:
    if isinstance(value, str) and value.isdecimal() and len(value) < 20:
        return int(value)  # INI inventories and environments give digits as text
    if isinstance(value, bool) or not isinstance(value, int) or value < 0:
        _wanted(faults, "a whole number from 0", value, "write a whole number, such as 1")
        return None
    return value


def _port(value: Any, faults: Faults) -> int | None:
    number = _integer(value, faults)
    if number is not None and not 1 <= number <= 65535:
        _wanted(faults, "a port", value, "write a number from 1 to 65535")
        return None
    return number


def _path(value: Any, faults: Faults) -> str | None:
    if not isinstance(value, str) or not value.startswith("/"):
        _wanted(faults, "an absolute path", value, "write a path that begins with /")
        return None
    return value.rstrip("/") or "/"


def _paths(value: Any, faults: Faults) -> tuple[str, ...] | None:
    if not isinstance(value, list) or not value:
        _wanted(faults, "a list of absolute paths", value, "write a YAML list: [/data/1, /data/2]")
        return None
    return tuple(path for item in value if (path := _path(item, faults)))


def _texts(value: Any, faults: Faults) -> tuple[str, ...] | None:
    if not isinstance(value, list) or not value:
        _wanted(faults, "a list", value, "write a YAML list: [cache, maven, url]")
        return None
    return tuple(word for item in value if (word := _text(item, faults)))


def _heap(value: Any, faults: Faults) -> str | None:
    if not isinstance(value, str) or not _HEAP.fullmatch(value):
        _wanted(faults, "a memory size", value, "write a number and k, m or g, such as 512m or 4g")
        return None
    return value.lower()


def _properties(value: Any, faults: Faults) -> dict[str, str]:
    if not isinstance(value, Mapping):
        # A text with a whole file in it, as vaulted ones are, has the passwords of that file.
        _wanted(faults, "a dictionary of properties", value and HIDDEN, "write one `key: value` per line below it")
        return {}
    return {str(key): text(item) for key, item in value.items() if _plain(str(key), item, faults)}


def _plain(key: str, value: Any, faults: Faults) -> bool:
    items = value if isinstance(value, list) else [value]
    if all(isinstance(item, Scalar) for item in items) and "\n" not in text(value):
        return True
    if value is None:
        faults.append(ValueFault(f"{key} has no value", f'write a value, or {key}: "" for an empty one', key))
    else:
        safe = _without_secrets(key, value)
        nested = isinstance(safe, Mapping) and key.islower()
        hint = f"write `{_flat(key, safe)}` on one line" if nested else f"write one value after {key}:"
        _wanted(faults, f"one value for {key}", safe, hint, key)
    return False


def _flat(key: str, value: Any) -> str:
    """The first property of a nested dictionary as it should have been written."""
    while isinstance(value, Mapping) and value:
        inner, value = next(iter(value.items()))
        key = f"{key}.{inner}"
    return f"{key}: {text(value)}"


def _listeners(value: Any, faults: Faults) -> tuple[dict[str, Any], ...]:
    if not isinstance(value, list) or not value:
        _wanted(faults, "a list of listeners", value, "write a YAML list: [{name: internal, port: 9092}]")
        return ()
    return tuple(listener for item in value if (listener := _listener(item, faults)))


def _listener(value: Any, faults: Faults) -> dict[str, Any] | None:
    entry = _entry(value, _LISTENER_KEYS, "listener", faults)
    name, protocol = str(entry.get("name", "")), str(entry.get("protocol", "PLAINTEXT"))
    if entry and not _LISTENER_NAME.fullmatch(name):
        _wanted(faults, "a listener's name", name, "use a letter, then letters, digits, `_` and `-`", name)
    if protocol.upper() not in PROTOCOLS:
        near = meant(protocol.upper(), PROTOCOLS)
        _wanted(
            faults,
            f"a protocol of listener {name}",
            protocol,
            f"write {near}" if near else f"write one of {', '.join(PROTOCOLS)}",
            name,
        )
    ports: dict[str, Any] = {key: _port(entry[key], faults) for key in ("port", "advertised_port") if key in entry}
    if entry and "port" not in entry:
        faults.append(ValueFault(f"listener {name} has no port", "add `port: 9092`", name))
    return {**entry, **ports, "name": name, "protocol": protocol.upper()} if ports.get("port") else None


def _topics(value: Any, faults: Faults) -> tuple[Topic, ...]:
    if not isinstance(value, list):
        _wanted(faults, "a list of topics", value, "write a YAML list: [{name: events, partitions: 6}]")
        return ()
    return tuple(topic for item in value if (topic := _topic(item, faults)))


def _topic(value: Any, faults: Faults) -> Topic | None:
    entry = _entry(value, _TOPIC_KEYS, "topic", faults)
    if not entry:
        return None
    name = str(entry.get("name", ""))
    if fault := name_fault(name):
        faults.append(ValueFault(f"{shown(name)} is not a topic's name: {fault}", "rename it", name))
    counts = {
        key: _count(entry[key], key, name, faults) for key in ("partitions", "replication_factor") if key in entry
    }
    return Topic(name, config=_properties(entry.get("config", {}), faults), **counts)


def _count(value: Any, what: str, topic: str, faults: Faults) -> int:
    if isinstance(value, bool) or not isinstance(value, int) or value < 1:
        _wanted(faults, f"a number for {what} of topic {topic}", value, "write a whole number from 1", topic)
        return 1
    return value


def _entry(value: Any, keys: tuple[str, ...], what: str, faults: Faults) -> dict[str, Any]:
    """One entry of a list, with keys that exist."""
    if not isinstance(value, Mapping) or not value:
        _wanted(faults, f"a {what}", value, f"write `name: ...` and the other keys of a {what}")
        return {}
    for key in value:
        if key not in keys:
            near = meant(str(key), keys)
            hint = f"did you mean {near}?" if near else f"the keys are {', '.join(keys)}"
            faults.append(ValueFault(f"a {what} has no key {key}", hint, str(key)))
    return {key: value[key] for key in keys if key in value}


_READERS: Mapping[VariableType, Callable[[Any, Faults], Any]] = {
    VariableType.TEXT: _text,
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
