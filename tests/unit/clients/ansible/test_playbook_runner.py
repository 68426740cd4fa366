"""Playbooks run by the real Ansible on this machine: events, failures, Ctrl-C, and the end of whoever asked."""

from __future__ import annotations

import subprocess
import sys
import time
import uuid
from pathlib import Path

import pytest

from kcluster.clients.ansible import Event, TaskStatus, run_playbook
from kcluster.errors import ApplyError, UnreachableError
from tests.children import child

HOSTS = "all: {hosts: {a: {ansible_connection: local}, b: {ansible_connection: local}}}\n"


def book(folder: Path, tasks: str, hosts: str = HOSTS) -> tuple[str, Path]:
    """A playbook of some tasks, and an inventory."""
    (folder / "book.yml").write_text(f"- hosts: all\n  gather_facts: false\n  tasks:\n{tasks}")
    (folder / "hosts.yml").write_text(hosts)
    return str(folder / "book.yml"), folder / "hosts.yml"


def running(word: str) -> bool:
    """Whether a process has this word among its arguments."""
    for file in Path("/proc").glob("[0-9]*/cmdline"):
        try:
            if word.encode() in file.read_bytes().split(b"\0"):
                return True
        except OSError:  # it has just ended
            continue
    return False


def gone(word: str, seconds: float = 20) -> bool:
    """Whether such a process ends in time."""
    deadline = time.monotonic() + seconds
    while running(word) and time.monotonic() < deadline:
        time.sleep(0.05)
    return not running(word)


def test_each_task_is_told_when_it_begins_and_when_it_ends_with_its_diff_and_facts(tmp_path: Path) -> None:
    tasks = """
    - name: Write a file
      ansible.builtin.copy: {content: "{{ word }}\\n", dest: "%s/{{ inventory_hostname }}", mode: "0600"}
    - name: Say more
      ansible.builtin.debug: {msg: two words}
    - name: Hide this
      ansible.builtin.copy: {content: hidden, dest: "%s/hidden", mode: "0600"}
      no_log: true
"""
    playbook, inventory = book(tmp_path, tasks % (tmp_path, tmp_path))
    told: list[Event] = []
    checked = run_playbook(playbook, inventory, on_event=told.append, extra={"word": "told"}, limit=["a"], check=True)
    assert not (tmp_path / "a").exists()
    assert [(event.host, event.task, event.status) for event in told][:3] == [
        ("a", "Write a file", TaskStatus.STARTED),
        ("a", "Write a file", TaskStatus.CHANGED),
        ("a", "Say more", TaskStatus.STARTED),
    ]
    assert "+told" in checked.changed[0].diff
    assert checked.events[1].message == "two words"
    assert "hidden" not in str(checked.events[2].diff) + str(checked.events[2].facts.get("content"))
    assert told[0].time <= told[1].time <= time.time()

    done = run_playbook(playbook, inventory, on_event=told.append, extra={"word": "told"})
    assert (tmp_path / "b").read_text() == "told\n"
    assert set(done.facts("mode")) == {"a", "b"}
    again = run_playbook(playbook, inventory, on_event=told.append, extra={"word": "told"})
    assert again.changed == ()


def test_a_failed_task_is_named_with_its_host_and_what_the_module_said(tmp_path: Path) -> None:
    tasks = """
    - name: Look closely
      ansible.builtin.fail: {msg: "there is no Java\\ntry: install one"}
      when: inventory_hostname == "b"
    - name: Go on
      ansible.builtin.fail: {msg: never mind}
      ignore_errors: true
"""
    told: list[Event] = []
    with pytest.raises(ApplyError, match="b: Look closely: there is no Java") as caught:
        run_playbook(*book(tmp_path, tasks), on_event=told.append)
    assert caught.value.resolution == "install one"
    assert [event.status for event in told if event.task == "Go on"] == [TaskStatus.STARTED, TaskStatus.OK]


def test_a_host_that_cannot_be_reached_is_told_with_sshs_reason(tmp_path: Path) -> None:
    nowhere = "all: {hosts: {far: {ansible_host: 127.0.0.1, ansible_port: 1}}}\n"
    with pytest.raises(UnreachableError, match=r"far cannot be reached: .*Connection refused"):
        run_playbook(*book(tmp_path, "    - ansible.builtin.ping:\n", nowhere), on_event=lambda event: None)


def test_when_ansible_itself_fails_its_last_words_are_passed_on(tmp_path: Path) -> None:
    _, inventory = book(tmp_path, "")
    with pytest.raises(ApplyError, match="Ansible itself failed") as caught:
        run_playbook(str(tmp_path / "missing.yml"), inventory, on_event=lambda event: None)
    assert "missing.yml could not be found" in caught.value.details


def test_ctrl_c_ends_ansible_and_what_it_runs_before_it_is_raised(tmp_path: Path) -> None:
    seconds = f"301.{uuid.uuid4().int % 10**9}"
    playbook, inventory = book(tmp_path, f"    - ansible.builtin.command: sleep {seconds}\n")

    def interrupt(event: Event) -> None:
        deadline = time.monotonic() + 20
        while not running(seconds) and time.monotonic() < deadline:
            time.sleep(0.05)
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        run_playbook(playbook, inventory, on_event=interrupt, limit=["a"])
    assert gone(seconds, 2)


def test_ansible_ends_when_whoever_asked_is_killed(tmp_path: Path) -> None:
    seconds = f"302.{uuid.uuid4().int % 10**9}"
    playbook, inventory = book(tmp_path, f"    - ansible.builtin.command: sleep {seconds}\n")
    code = (
        "import sys; from pathlib import Path; from kcluster.clients.ansible import run_playbook;"
        "told = lambda event: print(event.status, flush=True);"
        "run_playbook(sys.argv[1], Path(sys.argv[2]), on_event=told, limit=['a'])"
    )
    with child([sys.executable, "-c", code, playbook, str(inventory)], stdout=subprocess.PIPE) as asking:
        assert asking.stdout.readline() == b"started\n"
        deadline = time.monotonic() + 20
        while not running(seconds) and time.monotonic() < deadline:
            time.sleep(0.05)
        asking.kill()
    assert gone(seconds)
    assert gone(playbook)
