"""Lab hosts are separate machines, and labs go without a trace, however their makers end."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import threading
from contextlib import AbstractContextManager
from pathlib import Path

import pytest

from tests.children import child
from tests.lab import Image, Lab, LabError, Recipe, cgroup, faults, image, machine
from tests.lab.conftest import NewLab
from tests.lab.lab import PROJECT, fresh_name, reap
from tests.lab.machine import check, environment, folder, make_room, wait_until
from tests.lab.process import Process

MAKER = (
    "import sys; from tests.lab import *; Lab.create(sys.argv[1], 2, base_image()); print('up', flush=True); input()"
)

IN_TURN = 120
"""Seconds for what makes or removes a lab: one at a time on a machine, so it may wait for other labs."""


def traces(name: str) -> list[str]:
    """Everything on this machine that belongs to a lab."""
    files = [*Path("/run/netns").glob(f"lab-{name}*"), *cgroups(name)]
    mounts = [line for line in Path("/proc/mounts").read_text().splitlines() if f"/labs/{name}" in line]
    folders = [path for path in (folder() / "labs").iterdir() if path.name == name]
    return [*map(str, (*files, *folders)), *mounts, *processes(name)]


def cgroups(name: str) -> list[Path]:
    return [folder for number in (1, 2) for folder in cgroup.folders(f"{name}-h{number}") if folder.exists()]


def processes(name: str) -> list[str]:
    found = []
    for line in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            words = line.read_text().split("\0")
        except (FileNotFoundError, ProcessLookupError):
            continue
        if f"{name}-h1" in words or words[-3:-1] == ["guard", name]:
            found.append(str(line))
    return found


def start(*words: str) -> AbstractContextManager[subprocess.Popen[str]]:
    """A process of its own that makes a lab."""
    env = {**os.environ, "PYTHONPATH": f"{PROJECT}:{PROJECT / 'cli'}"}
    pipe = subprocess.PIPE
    return child([sys.executable, *words], env=env, stdin=pipe, stdout=pipe, stderr=pipe, text=True)


def ping(lab: Lab) -> int:
    """How many hosts Ansible reaches; its kept connections live on after it."""
    ansible = Path(sys.executable).with_name("ansible")
    ping = ["-m", "ansible.builtin.ping"]
    done = lab.run([ansible, "all", "-i", lab.inventory, *ping], env=environment(), timeout=60)
    return done.stdout.count("SUCCESS")


def wait_for_up(maker: subprocess.Popen[str]) -> None:
    assert maker.stdout
    assert maker.stderr
    assert maker.stdout.readline() == "up\n", maker.stderr.read()


def command(*words: str) -> tuple[int, str, str]:
    with start("-m", "tests.lab", *words) as process:
        out, err = process.communicate(timeout=120)
    return process.returncode, out, err


def test_hosts_are_machines_of_their_own(trio: Lab) -> None:
    facts = [trio.ssh(host.name, "uname -n; cat /etc/machine-id; cat /proc/1/comm").split() for host in trio.hosts]
    assert [(name, init) for name, _, init in facts] == [("h1", "systemd"), ("h2", "systemd"), ("h3", "systemd")]
    assert len({machine for _, machine, _ in facts}) == 3
    assert len({host.trust_line().split()[2] for host in trio.hosts}) == 3


def test_every_host_has_the_common_folder_where_this_machine_has_it(trio: Lab) -> None:
    trio.ssh("h1", f"runuser -u nobody -- sh -c 'echo hello >{trio.shared}/greeting'")
    assert (trio.shared / "greeting").read_text() == trio.ssh("h2", f"cat {trio.shared}/greeting") == "hello\n"
    assert "17" in trio.ssh("h1", "java -version 2>&1")


def test_hosts_are_made_from_images_in_turn(tmp_path: Path) -> None:
    images = (Image(tmp_path / "bookworm"), Image(tmp_path / "trixie"))
    assert [host.image for host in Lab("mixed", 3, images).hosts] == [*images, images[0]]


def test_hosts_know_each_other_and_nothing_else(trio: Lab) -> None:
    assert trio.ssh("h1", "getent ahostsv4 h2").split()[0] == trio.host("h2").address
    assert "SSH-2.0" in trio.ssh("h1", "head -c 7 </dev/tcp/h2/22")
    assert trio.ssh("h1", "ip route").count("\n") == 1
    assert "default" not in trio.ssh("h1", "ip route")


def test_ansible_reaches_hosts_also_where_another_lab_had_their_addresses(lab: NewLab) -> None:
    before = lab(2)
    assert ping(before) == 2
    before.down()
    again = lab(2)
    assert again.host("h1").address == before.host("h1").address
    assert ping(again) == 2


def test_a_unit_stopped_on_one_host_runs_on_on_another(trio: Lab) -> None:
    for host in ("h1", "h2"):
        trio.ssh(host, "systemd-run -q --unit=same sleep 1000")
    trio.ssh("h1", "systemctl stop same")
    assert trio.ssh("h2", "systemctl is-active same") == "active\n"
    trio.ssh("h2", "systemctl stop same")


def test_two_labs_side_by_side_share_nothing(lab: NewLab) -> None:
    one, other = lab(1), lab(2)
    assert one.host("h1").address == other.host("h1").address
    assert ping(one) == 1
    assert ping(other) == 2
    one.ssh("h1", "touch /root/mine")
    assert "mine" not in other.ssh("h1", "ls /root")
    other.ssh("h1", f"timeout 10 bash -c '</dev/tcp/{other.host('h2').address}/22'")
    with pytest.raises(LabError):
        one.ssh("h1", f"timeout 1 bash -c '</dev/tcp/{other.host('h2').address}/22'")
    one.down()
    assert traces(one.name) == []
    assert other.host("h1").ssh.answers(10)


def test_down_leaves_nothing_not_even_of_hosts_in_trouble(lab: NewLab) -> None:
    ours = lab(2)
    faults.small_disk(ours.host("h1"), "/data", 8)
    faults.freeze(ours.host("h1"))
    faults.power_cut(ours.host("h2"))
    assert traces(ours.name)
    ours.down()
    assert traces(ours.name) == []


def test_a_lab_goes_when_its_maker_is_killed(lab_image: Image) -> None:
    name = fresh_name()
    with start("-c", MAKER, name) as maker:
        wait_for_up(maker)
        maker.kill()
    wait_until(lambda: traces(name) == [], IN_TURN, "the guard takes the lab away")


def test_a_lab_goes_when_its_maker_is_killed_while_hosts_boot(lab_image: Image) -> None:
    name = fresh_name()
    with start("-c", MAKER, name) as maker:
        wait_until((folder() / "labs" / name / "h1" / "process").exists, IN_TURN, "the first host starts")
        maker.kill()
    wait_until(lambda: traces(name) == [], IN_TURN, "the guard takes the lab away")


def test_a_lab_whose_guard_was_killed_as_well_goes_with_the_next_run(lab_image: Image) -> None:
    name = fresh_name()
    with start("-c", MAKER, name) as maker:
        wait_for_up(maker)
        guard = Process.recorded(folder() / "labs" / name / "guard")
        assert guard
        guard.kill()
        maker.kill()
    assert traces(name)
    reap()
    assert traces(name) == []


def test_a_lab_goes_when_the_owner_it_was_given_to_is_killed(lab_image: Image) -> None:
    name = fresh_name()
    with start("-c", "input()") as owner:
        assert command("up", "1", "--name", name, "--owner", str(owner.pid))[0] == 0
        assert traces(name)
        owner.kill()
    wait_until(lambda: traces(name) == [], IN_TURN, "the guard takes the lab away")


def test_an_interrupted_up_leaves_nothing(lab_image: Image) -> None:
    name = fresh_name()
    with start("-m", "tests.lab", "up", "2", "--name", name) as maker:
        wait_until((folder() / "labs" / name / "h1" / "process").exists, IN_TURN, "the first host starts")
        maker.send_signal(signal.SIGINT)
        assert maker.wait(IN_TURN) == 130
    assert traces(name) == []


def test_the_command_makes_shows_breaks_and_removes_a_lab(lab_image: Image) -> None:
    name = fresh_name()
    assert command("up", "1", "--name", name)[0] == 0
    try:
        assert command("ssh", "--name", name, "h1", "uname", "-n")[:2] == (0, "h1\n")
        assert command("fault", "--name", name, "power_cut", "h1")[0] == 0
        code, out, _ = command("status")
        assert code == 0
        assert [line.split()[3] for line in out.splitlines() if line.split()[0] == name] == ["off"]
        assert command("up", "1", "--name", name)[2] == (
            f"error: there is a lab {name} already\n  try: ./run lab down --name {name}\n"
        )
        assert "usage: fault partition HOST OTHER" in command("fault", "--name", name, "partition", "h1")[2]
    finally:
        assert command("down", "--name", name)[0] == 0
    assert traces(name) == []


def test_a_machine_that_cannot_carry_a_lab_is_told_what_to_do() -> None:
    with pytest.raises(LabError, match="needs root"):
        check(1000, list)
    with pytest.raises(LabError) as raised:
        check(0, lambda: ["debootstrap", "nftables"])
    assert raised.value.resolution == "apt-get install --no-install-recommends debootstrap nftables"


def test_a_machine_makes_room_for_many_hosts_or_says_that_it_cannot(
    monkeypatch: pytest.MonkeyPatch, tmp_path: Path
) -> None:
    setting = tmp_path / "max_user_instances"
    setting.write_text("128\n")
    monkeypatch.setattr(machine, "WATCHES", setting)
    make_room(3)
    assert setting.read_text() == "1024\n"
    make_room(200)
    assert setting.read_text() == "1400\n"

    fixed = Path("/proc/sys/kernel/cap_last_cap")  # a small number that nobody may write
    room = int(fixed.read_text()) // 7
    monkeypatch.setattr(machine, "WATCHES", fixed)
    make_room(room)
    with pytest.raises(LabError, match=f"has room for {room} hosts, and there would be {room + 1}"):
        make_room(room + 1)


def test_another_recipe_is_another_image(monkeypatch: pytest.MonkeyPatch) -> None:
    names = [Recipe().name, Recipe("trixie").name, Recipe(java=False).name]
    monkeypatch.setitem(image.FILES, "etc/motd", "welcome\n")
    assert len({*names, Recipe().name}) == 4


def test_of_two_builds_at_once_one_works_and_a_killed_one_is_swept_away(tmp_path: Path) -> None:
    (tmp_path / ".it.making").mkdir()
    (tmp_path / ".it.making" / "half").touch()
    at_once, built = threading.Barrier(2), []

    def make(beside: Path) -> None:
        built.append(sorted(beside.iterdir()))
        (beside / "whole").touch()

    def build() -> None:
        at_once.wait()
        image.make_once(tmp_path / "it", make)

    threads = [threading.Thread(target=build) for _ in range(2)]
    for thread in threads:
        thread.start()
    for thread in threads:
        thread.join()
    assert built == [[]]
    assert [path.name for path in (tmp_path / "it").iterdir()] == ["whole"]
