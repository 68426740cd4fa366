"""A lab: several hosts on a network of their own, recorded before they are made, so that all can be taken away."""

from __future__ import annotations

import json
import os
import re
import select
import subprocess
import sys
import uuid
from collections.abc import Iterator, Mapping
from contextlib import ExitStack, contextmanager, suppress
from dataclasses import dataclass, replace
from itertools import cycle
from pathlib import Path

import yaml

from tests.lab import disk
from tests.lab.host import Host
from tests.lab.image import Image
from tests.lab.machine import LabError, attempt, changing, labs, make_room, write
from tests.lab.network import Cable, Network
from tests.lab.process import Process, detach

PROJECT = Path(__file__).parents[2]
MOST_HOSTS = 100
NAME = re.compile(r"[a-z][a-z0-9-]{0,30}")


@dataclass(frozen=True)
class Lab:
    """Hosts h1, h2, ... on a network of their own."""

    name: str
    size: int
    images: tuple[Image, ...]
    """What the hosts are made from, in turn."""
    owner: Process | None = None

    @classmethod
    def create(cls, name: str, size: int, *images: Image) -> Lab:
        """Make a lab of images in turn, and boot it; it goes when this process ends, however it ends, unless kept."""
        lab = cls._claim(name, size, images)
        try:
            with changing():
                lab._make()
            for host in lab.hosts:
                host.wait()
        except BaseException:
            lab.down()
            raise
        return lab

    @classmethod
    def load(cls, name: str) -> Lab:
        """The lab of a name."""
        try:
            facts = json.loads((labs() / name / "lab.json").read_text())
        except FileNotFoundError:
            raise LabError(f"there is no lab {name}", resolution="./run lab up 3") from None
        owner = Process(*facts["owner"]) if facts["owner"] else None
        images = tuple(Image(Path(folder)) for folder in facts["image"].split(os.pathsep))
        return cls(name, facts["size"], images, owner)

    @classmethod
    def all(cls) -> list[Lab]:
        """Every lab on this machine; one that is just being taken away is none any more."""
        found = []
        for file in sorted(labs().glob("*/lab.json")):
            with suppress(LabError):
                found.append(cls.load(file.parent.name))
        return found

    @property
    def folder(self) -> Path:
        """Where its disks and records are."""
        return labs() / self.name

    @property
    def network(self) -> Network:
        """Its network."""
        return Network(self.name)

    @property
    def hosts(self) -> list[Host]:
        """All its hosts, on or off."""
        cables = [Cable(self.network, f"h{number}", 10 + number) for number in range(1, self.size + 1)]
        return [Host(cable, self.folder / cable.host, image) for cable, image in zip(cables, cycle(self.images))]

    @property
    def inventory(self) -> Path:
        """An Ansible inventory that says how each host is reached, and no more."""
        return self.folder / "inventory.yml"

    @property
    def shared(self) -> Path:
        """A folder that this machine and each host have under the same name, and in which everybody may write."""
        return self.folder / "shared"

    def host(self, name: str) -> Host:
        """One of its hosts."""
        for host in self.hosts:
            if host.name == name:
                return host
        raise LabError(f"lab {self.name} has no host {name}, only {', '.join(host.name for host in self.hosts)}")

    def ssh(self, host: str, command: str, *, user: str = "root", input: str = "") -> str:
        """Run a shell line on a host and give what it said."""
        return self.host(host).ssh.run(command, user=user, input=input)

    def run(
        self, command: list[str | Path], *, env: Mapping[str, str] | None = None, timeout: float | None = None
    ) -> subprocess.CompletedProcess[str]:
        """Run a program of this machine where it can reach the hosts."""
        inside = ["ip", "netns", "exec", self.network.namespace, *command]
        return subprocess.run(inside, capture_output=True, text=True, env=env, timeout=timeout)

    def trust(self) -> None:
        """Take the hosts' present keys as known."""
        write(self.folder / "known_hosts", "".join(host.trust_line() for host in self.hosts))

    def keep(self, owner: Process | None = None) -> Lab:
        """Let the lab live on when its maker ends, until it is taken away or, if one is named, its new owner ends."""
        kept = replace(self, owner=owner)
        kept._record()
        self._dismiss_guard()
        if owner:
            kept._post_guard()
        return kept

    def down(self) -> None:
        """Take everything away that the record names; a host that resists does not save the others."""
        with changing(), ExitStack() as steps:  # the last one first
            steps.push(self._forget)
            steps.callback(self._dismiss_guard)
            steps.callback(self._close_kept_connections)
            steps.callback(self.network.delete)
            for host in self.hosts:
                steps.callback(host.power_off)

    def _forget(self, failed: type[BaseException] | None, *_: object) -> None:
        if not failed:  # the record stays as long as something does
            disk.remove(self.folder)

    @classmethod
    def _claim(cls, name: str, size: int, images: tuple[Image, ...]) -> Lab:
        _check(name, size)
        with changing():
            others = cls.all()
            if name in [lab.name for lab in others]:
                raise LabError(f"there is a lab {name} already", resolution=f"./run lab down --name {name}")
            make_room(size + sum(lab.size for lab in others))
            lab = cls(name, size, images, Process.of(os.getpid()))
            lab.folder.mkdir(exist_ok=True)
            lab._record()
        return lab

    def _record(self) -> None:
        owner = [self.owner.pid, self.owner.start] if self.owner else None
        folders = os.pathsep.join(str(image.folder) for image in self.images)
        facts = {"size": self.size, "image": folders, "owner": owner}
        write(self.folder / "lab.json", json.dumps(facts))

    def _make(self) -> None:
        self._post_guard()
        self.network.create()
        self.shared.mkdir()
        self.shared.chmod(0o777)
        names = "".join(f"{host.address} {host.name}\n" for host in self.hosts)
        known = [host.prepare(names) for host in self.hosts]
        write(self.folder / "known_hosts", "".join(known))
        door = self.folder / "ssh-inside"
        write(door, f'#!/bin/sh\nexec ip netns exec {self.network.namespace} ssh "$@"\n')
        door.chmod(0o755)
        write(self.inventory, yaml.safe_dump({"all": {"hosts": self._variables()}}, sort_keys=False))
        for host in self.hosts:
            host.start()

    def _variables(self) -> dict[str, dict[str, str]]:
        return {
            host.name: {
                "ansible_host": host.address,
                "ansible_user": "root",
                "ansible_ssh_private_key_file": str(host.image.key),
                "ansible_ssh_common_args": " ".join(host.ssh.options),
                # every lab has these addresses, and ssh's kept connections go by address
                "ansible_control_path_dir": str(self.folder / "ssh"),
                # programs outside the lab's network, as molecule, come in through their ssh
                "ansible_ssh_executable": str(self.folder / "ssh-inside"),
            }
            for host in self.hosts
        }

    def _post_guard(self) -> None:
        path = f"PYTHONPATH={PROJECT}:{PROJECT / 'cli'}"
        command = ["env", path, sys.executable, "-m", "tests.lab", "guard", self.name]
        detach(command, self.folder / "guard", self.folder / "guard.log")

    def _close_kept_connections(self) -> None:
        for socket in (self.folder / "ssh").glob("*"):
            attempt("timeout", "5", "ssh", "-O", "exit", "-o", f"ControlPath={socket}", self.name)

    def _dismiss_guard(self) -> None:
        guard = Process.recorded(self.folder / "guard")
        if guard and guard.pid != os.getpid():
            guard.kill()


@contextmanager
def own_lab(name: str, size: int, *images: Image) -> Iterator[Lab]:
    """A lab that goes when the block ends, or when this process does."""
    lab = Lab.create(name, size, *images)
    try:
        yield lab
    finally:
        lab.down()


def fresh_name() -> str:
    """A lab's name that nobody else has."""
    return f"t{uuid.uuid4().hex[:8]}"


def guard(name: str) -> None:
    """Wait for a lab's owner to end, even by SIGKILL, and take the lab away."""
    lab = Lab.load(name)
    if not lab.owner:
        return
    with suppress(ProcessLookupError):  # it ended before we looked
        handle = os.pidfd_open(lab.owner.pid)
        if lab.owner.alive:
            select.select([handle], [], [])
    lab.down()


def reap() -> None:
    """Take away the labs whose owner has gone and whose guard has gone with it."""
    for lab in Lab.all():
        if lab.owner and not lab.owner.alive:
            lab.down()


def _check(name: str, size: int) -> None:
    if not NAME.fullmatch(name):
        raise LabError(f"a lab's name is lower case letters, digits and dashes, at most 31: {name!r} is not")
    if not 1 <= size <= MOST_HOSTS:
        raise LabError(f"a lab has 1 to {MOST_HOSTS} hosts, not {size}")
