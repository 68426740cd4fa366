# Apache License 2.0 (see LICENSE)
"""Asks a host whether it has the release, and sends it when it does not."""

from __future__ import annotations

import json
import mmap
import shlex
from pathlib import Path

from ansible.errors import AnsibleActionFail
from ansible.plugins.action import ActionBase
from ansible.utils.display import Display
from ansible_collections.kcluster.kafka.plugins.plugin_utils import cluster as reading

from kcluster.errors import KclusterError
from kcluster.model.spark_cluster import SparkRelease
from kcluster.releases import spark_archive, tarball

RECEIVER = Path(__file__).resolve().parents[1] / "module_utils" / "release.py"

SPARE = 64 << 20
"""Bytes that must be left when the release is unpacked."""

display = Display()


class ActionModule(ActionBase):
    """The control node's half of kcluster.kafka.release."""

    def run(self, tmp=None, task_vars=None):
        """Ask the host; send what is missing."""
        super().run(tmp, task_vars)
        part = reading.part(reading.cluster(task_vars), self._task.args)
        name = part.release.directory
        nodes = [node for node in part.nodes if node.host.name == task_vars["inventory_hostname"]]
        install_dir = (nodes or part.nodes)[0].places.install_dir
        answer = self._execute_module(
            module_name="kcluster.kafka.release",
            module_args={"install_dir": install_dir, "name": name, "whose": reading.whose(part, nodes)},
            task_vars=task_vars,
        )
        answer["moved_bytes"] = 0
        if not answer.get("missing") or answer.get("failed") or self._task.check_mode:
            return answer
        return self._install(part.release, install_dir, answer)

    def _install(self, wanted, install_dir, answer):
        spark = isinstance(wanted, SparkRelease)
        make = spark_archive.spark_tarball if spark else tarball.tarball
        try:
            tar = make(wanted, display.v)
        except KclusterError as problem:
            raise reading.failure(problem) from problem
        if answer["free_bytes"] < tar.size + SPARE:
            raise AnsibleActionFail(
                f"{install_dir} has {answer['free_bytes'] >> 20} MB free, and {wanted.directory} needs "
                f"{(tar.size + SPARE) >> 20} MB; nothing was sent\ntry: make room there, or change "
                f"{'spark' if spark else 'kafka'}_install_dir"
            )
        self._send(tar, install_dir, wanted.directory, answer["python"])
        return {**answer, "missing": False, "sha512": tar.sha512, "moved_bytes": tar.size}

    def _send(self, tar, install_dir, name, python):
        """Send the receiver and the release in one stream: no temporary copy, and one way over the network."""
        receiver = (
            RECEIVER.read_bytes() + f"\nreceive({install_dir!r}, {name!r}, {tar.sha512!r}, {tar.size})\n".encode()
        )
        ahead = f"import sys; exec(sys.stdin.buffer.read({len(receiver)}))"
        with (
            tarball.turn(tar.size),
            tar.path.open("rb") as file,
            mmap.mmap(file.fileno(), 0, prot=mmap.PROT_READ) as content,
        ):
            done = self._low_level_execute_command(
                f"{shlex.quote(python)} -c {shlex.quote(ahead)}", in_data=b"".join([receiver, content])
            )
        self._judge(tar, done)

    def _judge(self, tar, done):
        try:
            answer = json.loads(done["stdout"].strip().splitlines()[-1])
        except (ValueError, IndexError):
            said = (done["stderr"] or done["stdout"]).strip() or f"it ended with code {done['rc']}"
            raise AnsibleActionFail(f"the host did not take in the release: {said}") from None
        if answer["installed"]:
            return
        if "SHA-512" in answer["msg"] and not tar.whole():
            tarball.forget(tar)
            answer["msg"] += f"\n{tar.path} on the control node is damaged and was removed\ntry: run it again"
        raise AnsibleActionFail(answer["msg"])
