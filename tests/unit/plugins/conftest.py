"""The project as the collection that Ansible sees, and a host whose system is a folder."""

from __future__ import annotations

import grp
import importlib
import os
import pwd
from collections.abc import Callable, Iterator
from pathlib import Path
from types import ModuleType
from typing import Any

import pytest

from kcluster.clients.ansible.run_environment import collections
from kcluster.config.unit_titles import of_another

PLUGINS = "ansible_collections.kcluster.kafka.plugins"


@pytest.fixture(scope="session")
def plugin(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Callable[[str], ModuleType]]:
    """Import a plugin by its path in plugins/: `plugin("modules.node")`."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setenv("KCLUSTER_CACHE", str(tmp_path_factory.mktemp("cache")))
        patch.syspath_prepend(str(collections()))
        yield lambda name: importlib.import_module(f"{PLUGINS}.{name}")


@pytest.fixture
def disks(plugin: Callable[[str], ModuleType], tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> ModuleType:
    """What judges the disks of a host whose system is a folder."""
    monkeypatch.setattr(plugin("module_utils.mounts"), "ROOT", str(tmp_path / "system"))
    for folder in ("etc/systemd/system", "proc/self"):
        (tmp_path / "system" / folder).mkdir(parents=True)
    return plugin("module_utils.disk_identity")


@pytest.fixture
def own() -> dict[str, str]:
    """The owner and group of what this process makes."""
    return {"owner": pwd.getpwuid(os.getuid()).pw_name, "group": grp.getgrgid(os.getgid()).gr_name}


@pytest.fixture
def node(tmp_path: Path, own: dict[str, str]) -> Callable[..., dict[str, Any]]:
    """A broker as the module is told of it, with one data directory and one file: `node(id=2)`."""
    file = {"path": str(tmp_path / "etc/server.properties"), "text": "a=1\n", "mode": "0640", "kept": True}
    data = str(tmp_path / "data")
    (tmp_path / "opt").mkdir()
    told = {
        "name": "broker-1",
        "kind": "broker",
        "id": 1,
        "unit": "kafka",
        "whose": {"cluster": "demo", "of_another": of_another("demo"), "units": [str(tmp_path / "kafka.service")]},
        "user": own["owner"],
        "group": own["group"],
        "cluster_id": "",
        "format": False,
        "release_dir": str(tmp_path / "opt/kafka_2.13-3.9.2"),
        "link": str(tmp_path / "opt/current-kafka"),
        "data_dirs": [data],
        "directories": [{**own, "path": data, "mode": "0750"}],
        "files": [{**own, **file}],
    }
    return lambda **more: {**told, **more}


@pytest.fixture
def meta(tmp_path: Path) -> Callable[..., None]:
    """Write the `meta.properties` of the data directory: `meta(node_id=1)`."""

    def write(**pairs: object) -> None:
        (tmp_path / "data").mkdir(exist_ok=True)
        text = "".join(f"{key.replace('_', '.')}={pairs[key]}\n" for key in pairs)
        (tmp_path / "data" / "meta.properties").write_text(text)

    return write
