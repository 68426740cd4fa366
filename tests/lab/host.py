"""One lab host: made, booted, cut off, thrown away."""

from __future__ import annotations

import uuid
from dataclasses import dataclass
from pathlib import Path

from tests.lab import cgroup, disk
from tests.lab.disk import SmallDisk
from tests.lab.image import Image
from tests.lab.machine import LabError, run, wait_until
from tests.lab.network import Cable
from tests.lab.process import Process, children, detach
from tests.lab.ssh import Ssh

HOST_KEY = "etc/ssh/ssh_host_ed25519_key"
BOOT_SECONDS = 60  # it takes one; a busy machine takes more


@dataclass(frozen=True)
class Host:
    """A Debian with systemd, an address and a disk of its own."""

    cable: Cable
    folder: Path
    image: Image

    @property
    def name(self) -> str:
        """What it calls itself."""
        return self.cable.host

    @property
    def address(self) -> str:
        """Where it is reached, inside the lab's namespace only."""
        return self.cable.address

    @property
    def label(self) -> str:
        """Its name among all hosts of this machine."""
        return f"{self.cable.network.lab}-{self.name}"

    @property
    def root(self) -> Path:
        """Its file system, as long as it is mounted."""
        return self.folder / "root"

    @property
    def ssh(self) -> Ssh:
        """The way in."""
        return Ssh(self.cable.network.namespace, self.address, self.image.key, self.folder.parent / "known_hosts")

    @property
    def process(self) -> Process | None:
        """The process that carries it; ended when it is off."""
        return Process.recorded(self.folder / "process")

    @property
    def shared(self) -> Path:
        """The lab's common folder, which has this name here and on each host."""
        return self.folder.parent / "shared"

    @property
    def running(self) -> bool:
        """Whether it is switched on."""
        return bool(self.process and self.process.alive)

    @property
    def state(self) -> str:
        """Off, frozen, silent (switched on, no answer) or up."""
        if not self.running:
            return "off"
        if cgroup.frozen(self.label):
            return "frozen"
        return "up" if self.ssh.answers() else "silent"

    def prepare(self, names: str) -> str:
        """Give it a disk with an identity and the lab's names; gives its line for known_hosts."""
        disk.mount_overlay(self.image.layers, self.folder)
        if not self.image.kept:
            self._identify(names)
        return self.trust_line()

    def _identify(self, names: str) -> None:
        (self.root / "etc/machine-id").write_text(f"{uuid.uuid4().hex}\n")
        (self.root / "etc/hostname").write_text(f"{self.name}\n")
        (self.root / "etc/hosts").write_text(f"127.0.0.1 localhost\n{names}")
        (self.root / "root").chmod(0o711)  # where the common folder is below it, others come through to that
        run("ssh-keygen", "-q", "-t", "ed25519", "-N", "", "-C", self.name, "-f", self.root / HOST_KEY)

    def trust_line(self) -> str:
        """Its line for known_hosts, with the key it has now."""
        kind, key, *_ = (self.root / f"{HOST_KEY}.pub").read_text().split()
        return f"{self.address},{self.name} {kind} {key}\n"

    def start(self) -> None:
        """Switch it on, with the disk it had."""
        if self.running:
            raise LabError(f"{self.name} is on already")
        self.power_off()
        disk.mount_overlay(self.image.layers, self.folder)
        for small in SmallDisk.all(self.folder):
            small.mount()
        self.cable.create()
        detach(self._nspawn(), self.folder / "process", self.console, cgroup.folders(self.label))

    def wait(self) -> None:
        """Wait until it really answers: an open port is too early."""
        wait_until(self._answers, BOOT_SECONDS, f"{self.name} answers")

    def power_off(self) -> None:
        """End whatever of it runs and put its disk away; also tidies what a killed run left."""
        wait_until(self._ended, 20, f"every process of {self.name} gone")
        self.cable.delete()
        disk.unmount_below(self.folder)

    @property
    def console(self) -> Path:
        """What its systemd says."""
        return self.folder / "console.log"

    @property
    def first_process(self) -> int:
        """The machine's id of the host's process 1."""
        if not (self.process and self.running):
            raise LabError(f"{self.name} is off", resolution=f"./run lab fault boot {self.name}")
        (first,) = children(self.process.pid)
        return first

    def _nspawn(self) -> list[str]:
        apart = ["--register=no", "--keep-unit", "--resolv-conf=off", "--timezone=off", "--link-journal=no"]
        names = [
            "-M",
            self.label,
            f"--hostname={self.name}",
            f"--network-namespace-path=/run/netns/{self.cable.namespace}",
        ]
        disks = [f"--bind={small.mount_point}:{small.path}" for small in SmallDisk.all(self.folder)]
        disks += [f"--bind={self.shared}"]
        return ["systemd-nspawn", "-q", *apart, *names, *disks, "-D", str(self.root), "--boot"]

    def _answers(self) -> bool:
        if not self.running:
            tail = self.console.read_text(errors="replace")[-2000:]
            raise LabError(f"{self.name} went off while it booted", details=tail)
        return self.ssh.answers(5)

    def _ended(self) -> bool:
        if self.process:
            self.process.kill()
        cgroup.kill(self.label)
        return cgroup.removed(self.label)
