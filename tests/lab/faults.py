"""What happens to real hosts, one call each; the same names on the command line: `./run lab fault partition h1 h2`."""

from __future__ import annotations

from tests.lab import cgroup
from tests.lab.disk import SmallDisk
from tests.lab.host import HOST_KEY, Host
from tests.lab.machine import changing, run, wait_until

PASSWORD = "lab"  # of accounts whose sudo asks for one


def power_cut(host: Host) -> None:
    """The cable first, then everything at once: peers get no FIN and no RST, they only hear nothing any more."""
    host.cable.set("down")
    host.power_off()


def shutdown(host: Host) -> None:
    """Switch a host off in order, units stopped one by one."""
    process = host.process
    host.ssh.run("systemctl poweroff --no-block")
    if process:
        process.wait(120)
    host.power_off()


def boot(host: Host) -> None:
    """Switch a host on again with the disk it had; partitions and thin links of its own have gone with the power."""
    with changing():
        host.start()
    host.wait()


def freeze(host: Host) -> None:
    """Every process stands still; the kernel still takes connections and nobody answers them."""
    cgroup.freeze(host.label, True)


def thaw(host: Host) -> None:
    """Go on as if no time had passed."""
    cgroup.freeze(host.label, False)


def cable_out(host: Host) -> None:
    """Pull the network cable."""
    host.cable.set("down")


def cable_in(host: Host) -> None:
    """Put the network cable in again; back when the host is: a bridge takes its time, and so do those who asked."""
    host.cable.set("up")
    wait_until(lambda: host.ssh.answers(5), 60, f"{host.name} answers again")


def partition(host: Host, other: Host) -> None:
    """These two no longer hear each other; everybody else hears both."""
    host.cable.refuse(other.address)


def heal(host: Host, other: Host) -> None:
    """End a partition, whichever side it was put on."""
    host.cable.accept(other.address)
    other.cable.accept(host.address)


def ssh_only(host: Host) -> None:
    """This machine reaches nothing of the host but SSH, as through a firewall; the other hosts reach all of it."""
    host.cable.admit_only(host.cable.network.address(1), 22)


def every_port(host: Host) -> None:
    """Let this machine reach everything again."""
    host.cable.accept(host.cable.network.address(1))


def thin_link(host: Host, rate: str = "1mbit") -> None:
    """Let no more through to and from the host than a rate as tc writes it."""
    host.cable.narrow(rate)


def wide_link(host: Host) -> None:
    """Let everything through again."""
    host.cable.widen()


def small_disk(host: Host, path: str, megabytes: int = 32) -> None:
    """Mount an empty file system of this size at a path, now and after each boot; what was there is hidden."""
    process = host.first_process
    small = SmallDisk.at(host.folder, path)
    with changing():
        small.create(megabytes)
        small.attach(process)


def fill_disk(host: Host, path: str) -> None:
    """Fill a small disk to the last byte."""
    SmallDisk.at(host.folder, path).fill()


def free_disk(host: Host, path: str) -> None:
    """Give the room on a small disk back."""
    SmallDisk.at(host.folder, path).free()


def lose_disk(host: Host, path: str) -> None:
    """Unmount a small disk in the running host, as a mount that failed: an empty folder is left at the path."""
    run("nsenter", "-t", str(host.first_process), "-m", "umount", path)
    SmallDisk.at(host.folder, path).discard()


def kill_unit(host: Host, unit: str) -> None:
    """SIGKILL for the main process of a unit; systemd does what the unit says."""
    host.ssh.run(f"systemctl kill --signal=KILL --kill-who=main {unit}")


def drop_ssh(host: Host) -> None:
    """Break all SSH connections that are open now; new ones work, and what ran on the host runs on."""
    host.cable.reset(22)


def no_sudo(host: Host, user: str = "plain") -> None:
    """An account that may log in with the lab's key and may not use sudo."""
    host.ssh.run(
        f"useradd -m -s /bin/bash {user} && install -d -m 700 -o {user} -g {user} ~{user}/.ssh"
        f" && install -m 600 -o {user} -g {user} /root/.ssh/authorized_keys ~{user}/.ssh/authorized_keys"
    )


def sudo_asks(host: Host, user: str = "asked") -> None:
    """An account whose sudo wants its password, which is PASSWORD."""
    no_sudo(host, user)
    host.ssh.run(f"echo '{user} ALL=(ALL) ALL' >/etc/sudoers.d/{user} && echo '{user}:{PASSWORD}' | chpasswd")


def new_host_key(host: Host) -> None:
    """Another host key than the one that is known, as after a reinstallation; `Lab.trust` makes it known."""
    key = f"/{HOST_KEY}"
    host.ssh.run(f"rm {key} {key}.pub && ssh-keygen -q -t ed25519 -N '' -f {key} && systemctl restart ssh")
