# Apache License 2.0 (see LICENSE)
"""Asks a host whether it has the release, and sends it when it does not."""

from __future__ import annotations

import json
import mmap
import shlex
from typing import Any

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible_collections.kcluster.kafka.plugins.plugin_utils import cluster as reading

from kcluster.ansible_api import KclusterError, Part, releases, whose

SPARE = 64 << 20
"""Bytes that must be left when the release is unpacked."""

display = Display()


class ActionModule(ActionBase):
    """The control node's half of kcluster.kafka.release."""

    def run(self, tmp: str | None = None, task_vars: dict[str, Any] | None = None) -> dict[str, Any]:
        """Ask the host; send what is missing."""
        super().run(tmp, task_vars)
        part = reading.part(reading.cluster(task_vars or {}), self._task.args)
        nodes = [node for node in part.nodes if node.host.name == (task_vars or {})["inventory_hostname"]]
        install_dir = (nodes or part.nodes)[0].places.install_dir
        arguments = {"install_dir": install_dir, "name": part.release.directory, "whose": whose(part, nodes)}
        answer = dict(self._execute_module("kcluster.kafka.release", arguments, task_vars=task_vars), moved_bytes=0)
        if not answer.get("missing") or answer.get("failed") or self._task.check_mode:
            return answer
        return self._install(part, install_dir, answer)

    def _install(self, part: Part, install_dir: str, answer: dict[str, Any]) -> dict[str, Any]:
        try:
            tar = releases.made(part, display.v)
        except KclusterError as problem:
            raise reading.failure(problem) from problem
        if answer["free_bytes"] < tar.size + SPARE:
            raise AnsibleActionFail(
                f"{install_dir} has {answer['free_bytes'] >> 20} MB free, and {part.release.directory} needs "
                f"{(tar.size + SPARE) >> 20} MB; nothing was sent\ntry: make room there, or change "
                f"{self._task.args.get('part', 'kafka')}_install_dir"
            )
        self._send(tar, install_dir, part.release.directory, answer["python"])
        return {**answer, "missing": False, "sha512": tar.sha512, "moved_bytes": tar.size}

    def _send(self, tar: releases.Tarball, install_dir: str, name: str, python: str) -> None:
        """Send the receiver and the release in one stream: no temporary copy, and one way over the network."""
        receiver = releases.receiver(tar, install_dir, name)
        ahead = f"import sys; exec(sys.stdin.buffer.read({len(receiver)}))"
        with (
            releases.turn(tar.size),
            tar.path.open("rb") as file,
            mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as content,
        ):
            done = self._low_level_execute_command(
                f"{shlex.quote(python)} -c {shlex.quote(ahead)}", in_data=b"".join([receiver, content])
            )
        self._judge(tar, done)

    def _judge(self, tar: releases.Tarball, done: dict[str, Any]) -> None:
        try:
            answer = json.loads(done["stdout"].strip().splitlines()[-1])
        except (ValueError, IndexError):
            output = (done["stderr"] or done["stdout"]).strip() or f"it ended with code {done['rc']}"
            raise AnsibleActionFail(f"the host did not install the release: {output}") from None
        if answer["installed"]:
            return
        if "SHA-512" in answer["msg"] and not tar.whole():
            releases.forget(tar)
            answer["msg"] += f"\n{tar.path} on the control node is damaged and was removed\ntry: run it again"
        raise AnsibleActionFail(answer["msg"])
