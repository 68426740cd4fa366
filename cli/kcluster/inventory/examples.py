"""Values that would have been right: made from what was written where that is possible, else general ones."""

from __future__ import annotations

import re
from typing import Any

from kcluster.model.listener import PROTOCOLS

_ENDPOINT = re.compile(r"(?P<name>[A-Za-z][\w-]*)://(?P<host>[^:/\s]*):(?P<port>\d{1,5})")

PROPERTIES = {"key": "value"}
_PATHS = ["/data/1", "/data/2"]
_SOURCES = ["cache", "maven", "url"]
_LISTENERS = [{"name": "internal", "port": 9092}]
_TOPICS = [{"name": "events", "partitions": 6}]
GENERAL = (_PATHS, _SOURCES, _LISTENERS, _TOPICS)
"""The values that say nothing about what was written."""


def paths(value: Any) -> list[str]:
    """The absolute paths in a text or list; general ones when it has others, or none."""
    words = _words(value)
    return words if words and all(word.startswith("/") for word in words) else _PATHS


def texts(value: Any) -> list[str]:
    """The words of a text or list; release sources when there are none."""
    return _words(value) or _SOURCES


def listeners(value: Any) -> list[dict[str, Any]]:
    """The listeners in Kafka's notation, `NAME://host:port`; a general one when there is none."""
    return list(map(_listener, _ENDPOINT.finditer(" ".join(_words(value))))) or _LISTENERS


def topics(value: Any) -> list[dict[str, Any]]:
    """Topics with the names in a text or list; a general one when there are none."""
    return [{"name": word} for word in _words(value) if re.fullmatch(r"[\w.-]+", word)] or _TOPICS


def _listener(endpoint: re.Match[str]) -> dict[str, Any]:
    name, host = endpoint["name"], endpoint["host"]
    protocol = {"protocol": name.upper()} if name.upper() in PROTOCOLS else {}
    bound = {"host": host} if host and host != "0.0.0.0" else {}
    return {"name": name, "port": int(endpoint["port"]), **protocol, **bound}


def _words(value: Any) -> list[str]:
    """The words of a text with commas, also of one with the brackets of a list that was not read as a list."""
    items = value if isinstance(value, list) else str(value).strip(" []").split(",") if isinstance(value, str) else []
    return [word for item in items if isinstance(item, str) and (word := item.strip(" '\""))]
