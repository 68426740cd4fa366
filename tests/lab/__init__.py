"""The lab: real Debian hosts with their own systemd, sshd, disk and network on one Linux machine, and faults for them.

    lab = Lab.create("demo", 3, base_image())    three hosts, h1 to h3, up and answering
    lab.ssh("h1", "uname -n")                    a command on a host
    faults.power_cut(lab.host("h2"))             see tests/lab/faults.py
    lab.down()                                   nothing is left

Disks of hosts on which something was installed may be kept, and later labs made of them: tests/lab/kept.py.

A host is an overlay disk over one cached image, a network namespace, and systemd-nspawn. Its address is the same in
every lab and exists only inside the lab's own namespace, so whatever talks to hosts runs there:
`lab.run(["ansible", "-i", lab.inventory, ...])`.
From a shell: `./run lab up 3`, `./run lab fault partition h1 h2`, `./run lab down`.

Where a lab host differs from a machine: kernel settings and the clock cannot be changed; bytes that were written but
not synced survive a power cut, because this machine's page cache does; a host that powers off or reboots by itself
stays off until `boot`.
"""

from tests.lab.image import Image, Recipe, base_image
from tests.lab.lab import Lab, own_lab
from tests.lab.machine import LabError
from tests.lab.packages import repository

__all__ = ["Image", "Lab", "LabError", "Recipe", "base_image", "own_lab", "repository"]
