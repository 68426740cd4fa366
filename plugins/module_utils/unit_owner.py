"""Whose a systemd unit is: each unit of kcluster names its node and its cluster in its description."""

from __future__ import annotations

import re
from typing import Any

from ansible_collections.kcluster.kafka.plugins.module_utils.files import read


def description(unit_file: str) -> str | None:
    """The line `Description=...` of a unit file; empty when it has none, None when there is no such file."""
    text = read(unit_file)
    return text if text is None else "".join(re.findall("^Description=.*", text, re.MULTILINE)[:1])


def other_owner(text: str, of_another: str) -> str:
    """The name of another cluster whose unit this text is; `of_another` is the pattern of such a description."""
    found = re.search(of_another, text)
    return found.group(1) if found else ""


def other_cluster(whose: dict[str, Any]) -> str:
    """Why a host whose units are another cluster's must not be changed; empty when it may."""
    owners = {path: other_owner(read(path) or "", whose["of_another"]) for path in whose["units"]}
    path, owner = next(((path, owner) for path, owner in owners.items() if owner), ("", ""))
    return owner and (
        f"{path} belongs to the cluster {owner}, but the inventory says kcluster_name: {whose['cluster']}; is this the "
        f"right host? If {owner} is only the older name of the same cluster, write kcluster_name: {owner} again"
    )


def other_unit(unit_file: str, title: str) -> str:
    """Why a unit file is not the unit with this title; empty when it is, or is not there."""
    line = description(unit_file)
    found = (line or "").partition("=")[2].strip()
    return "" if line is None or found == title else f"{unit_file} is {found!r}, not {title!r}"
