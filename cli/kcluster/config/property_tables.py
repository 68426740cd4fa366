"""The properties of Kafka and ZooKeeper: type, valid values, default and description of each."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping
from functools import cache
from pathlib import Path
from typing import NamedTuple

_DATA = Path(__file__).parent / "property_data"

PLUGIN_PREFIXES = (
    "listener.name.",  # any property, for one listener
    "config.providers.",  # settings of a configuration provider
    "rsm.config.",  # tiered storage: the remote storage manager
    "rlmm.config.",  # tiered storage: the remote log metadata manager
    "kafka.",  # kafka.metrics.reporters and what those reporters read
    "metrics.jmx.",  # which metrics JMX shows
    "cruise.control.",  # Cruise Control's metrics reporter
    "client.quota.callback.",
    "create.topic.policy.",
    "alter.config.policy.",
    "ranger.",
    "opa.",
    "strimzi.",
)
"""The prefixes of plugins' properties: Kafka passes them on unread, so they cannot be checked."""

INTERNAL = frozenset({"unstable.api.versions.enable", "unstable.feature.versions.enable"})
"""Properties that brokers accept, but that are missing from the printed tables."""

_ZOOKEEPER_FAMILIES = re.compile(r"(server|group|weight)\.\d+|(authProvider|metricsProvider)\..+|authProvider")


_SECRET = re.compile(
    r"password(?!\.encoder|Path)|passwd|passphrase|secret|(token|credentials?|api[._-]?key|[._]pass)$"
    r"|jaas\.config|superDigest|keystore\.key$",
    re.I,
)
_VAULTED: set[str] = set()


class PropertyDefinition(NamedTuple):
    """One property. A named tuple, because hundreds are made whenever one is looked up."""

    name: str
    type: str
    """boolean, int, long, short, double, string, list, class or password."""
    default: str | None
    """None: there is no default, the property is unset or must be given."""
    valid: str
    """In Kafka's words: "[1,...]", "[delete, compact]"; empty when anything of the type will do."""
    importance: str
    update_mode: str
    """read-only, per-broker or cluster-wide; empty for topics and ZooKeeper."""
    doc: str
    server_default: str = ""
    """Of a topic's property: the broker's property that is its default."""


def table(version: str) -> Mapping[str, PropertyDefinition]:
    """Every property of brokers and controllers of a version."""
    return _tables(_file(version))["broker"]


def topic_table(version: str) -> Mapping[str, PropertyDefinition]:
    """Every property of topics of a version."""
    return _tables(_file(version))["topic"]


def zookeeper_table() -> Mapping[str, PropertyDefinition]:
    """Every property of ZooKeeper 3.8, the one that belongs to Kafka 3.9."""
    return _tables("zookeeper")["server"]


def plugin(name: str) -> bool:
    """Whether a property belongs to a plugin or is internal to Kafka, so that it is not checked."""
    return name.startswith(PLUGIN_PREFIXES) or name in INTERNAL


def zookeeper_family(name: str) -> bool:
    """Whether a ZooKeeper property is one of those that exist once per server or per plugin."""
    return _ZOOKEEPER_FAMILIES.fullmatch(name) is not None


def secret(name: str) -> bool:
    """Whether a property's value must not be shown."""
    return name in _VAULTED or _named_secret(name)


@cache
def _named_secret(name: str) -> bool:
    return _SECRET.search(name) is not None or name in _passwords()


def keep_secret(names: Iterable[str]) -> None:
    """Treat these properties as secret from now on, whatever their names: their values were vaulted."""
    _VAULTED.update(names)


def fault(of: PropertyDefinition, value: str) -> str:
    """Why the server refuses this value; empty when it accepts it."""
    value = value.strip()
    if value.startswith("${") and value.endswith("}"):
        return ""  # a configuration provider fills it in on the host
    if problem := _type_fault(of.type, value):
        return problem
    return _value_fault(of, value) if of.valid else ""


_BITS = {"short": 16, "int": 32, "long": 64}


def _type_fault(kind: str, value: str) -> str:
    if kind == "boolean" and value.lower() not in ("true", "false"):
        return "must be true or false"
    if kind in _BITS:
        return _integer_fault(kind, value)
    if kind == "double" and not re.fullmatch(r"[+-]?(\d+\.?\d*|\.\d+)([eE][+-]?\d+)?", value):
        return "must be a number"
    if kind == "class" and value and not re.fullmatch(r"[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*", value):
        return "must be the name of a Java class"
    return ""


def _integer_fault(kind: str, value: str) -> str:
    if not re.fullmatch(r"[+-]?\d+", value):
        return "must be a whole number"
    limit = 2 ** (_BITS[kind] - 1)
    return "" if -limit <= int(value) < limit else f"must be between {-limit} and {limit - 1}"


def _value_fault(of: PropertyDefinition, value: str) -> str:
    if bounds := re.fullmatch(r"\[(-?[\d.]+?),\.\.\.(?:,(-?[\d.]+))?\](?: or (-?\d+))?", of.valid):
        return _range_fault(value, *bounds.groups())
    if of.valid.startswith("non-empty"):
        return "" if value else "must not be empty"
    if of.valid.startswith("[partitionId]"):
        pairs = value in ("", "*") or re.fullmatch(r"\d+:\d+(,\s*\d+:\d+)*", value)
        return "" if pairs else "must be * or PARTITION:BROKER, separated by commas"
    choices = re.fullmatch(r"(\(case insensitive\) )?\[(.+)\]", of.valid)
    return _choice_fault(of, value, choices[2].split(", "), any_case=bool(choices[1])) if choices else ""


def _range_fault(value: str, least: str, most: str | None, besides: str | None) -> str:
    number = float(value)
    if besides is not None and number == float(besides):
        return ""
    if number >= float(least) and (most is None or number <= float(most)):
        return ""
    text = f"at least {least}" if most is None else f"between {least} and {most}"
    return f"must be {text}" + (f", or {besides}" if besides is not None else "")


def _choice_fault(of: PropertyDefinition, value: str, choices: list[str], *, any_case: bool) -> str:
    if choices[0].startswith("0.8"):
        return _version_fault(value, choices)
    values = [part.strip() for part in value.split(",") if part.strip()] if of.type == "list" else [value]
    known = {choice.lower() for choice in choices} if any_case else set(choices)
    wrong = [part for part in values if (part.lower() if any_case else part) not in known]
    if not wrong:
        return ""
    return (
        f"must be one of {', '.join(choices)}"
        if of.type != "list"
        else f"has the unknown value {wrong[0]}; known: {', '.join(choices)}"
    )


def _version_fault(value: str, choices: list[str]) -> str:
    """A protocol version: "3.9-IV0", or "3.9" and "3.9.2", which mean the newest of that line."""
    parts = value.split(".")
    line = ".".join(parts[: 3 if parts[0] == "0" else 2])
    known = value in choices or any(choice == line or choice.startswith(f"{line}-IV") for choice in choices)
    return "" if known else f"must be a protocol version, {choices[0]} to {choices[-1]}"


@cache
def _passwords() -> frozenset[str]:
    """The properties whose type says that they are secret, in any version."""
    tables = [table(path.stem) for path in _DATA.glob("[0-9]*.json")]
    return frozenset(name for rows in tables for name, row in rows.items() if row.type == "password")


@cache
def _file(version: str) -> str:
    """The table of a version: patch versions share one; without one, that of the next newer line, else the newest."""
    wanted = tuple(int(part) for part in re.findall(r"\d+", version)[:2])
    lines = sorted(tuple(map(int, path.stem.split("."))) for path in _DATA.glob("[0-9]*.json"))
    found = next((line for line in lines if line >= wanted), lines[-1])
    return ".".join(map(str, found))


@cache
def _tables(stem: str) -> Mapping[str, Mapping[str, PropertyDefinition]]:
    data = json.loads((_DATA / f"{stem}.json").read_text())
    return {
        part: {name: PropertyDefinition(name, *values) for name, values in rows.items()} for part, rows in data.items()
    }
