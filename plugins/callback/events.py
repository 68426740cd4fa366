# Apache License 2.0 (see LICENSE)
"""Reports to a program what a playbook does: one JSON line for each event."""

from __future__ import annotations

import json
import os
import time
from typing import Any

from ansible.plugins.callback import CallbackBase

DOCUMENTATION = """
name: events
type: stdout
short_description: One JSON line for each event, for programs
description:
  - Writes a line of JSON for each task that begins or ends on a host, to the file descriptor that the environment
    variable E(KCLUSTER_EVENTS_FD) names; without it, to standard output.
  - A line has V(host), V(task), V(status) (started, ok, changed, failed, unreachable or skipped), V(message), V(diff),
    V(facts) (what the module returned besides) and V(time).
author: [kcluster]
"""

# In the line under another key, or of no use to a program that follows the run.
_ELSEWHERE = {
    "msg", "diff", "changed", "failed", "unreachable", "skipped", "invocation", "exception", "warnings",
    "deprecations", "ansible_facts", "stdout_lines", "stderr_lines", "results", "skip_reason",
}  # fmt: skip


class CallbackModule(CallbackBase):
    """The stdout callback kcluster.kafka.events."""

    CALLBACK_VERSION = 2.0
    CALLBACK_TYPE = "stdout"
    CALLBACK_NAME = "kcluster.kafka.events"

    def __init__(self, *args: Any, **kwargs: Any) -> None:
        super().__init__(*args, **kwargs)
        # Line by line, so that a line is there when its event is.
        self._out = os.fdopen(int(os.environ.get("KCLUSTER_EVENTS_FD", "1")), "w", buffering=1, closefd=False)

    def v2_runner_on_start(self, host: Any, task: Any) -> None:
        """A task begins on a host."""
        self._write(host, task, "started")

    def v2_runner_on_ok(self, result: Any) -> None:
        """A task has ended well."""
        self._end(result, "changed" if result._result.get("changed") else "ok")

    def v2_runner_on_skipped(self, result: Any) -> None:
        """A task was not needed on a host."""
        self._end(result, "skipped")

    def v2_runner_on_failed(self, result: Any, ignore_errors: bool = False) -> None:
        """A task has failed; one whose failure is ignored has not."""
        self._end(result, "ok" if ignore_errors else "failed")

    def v2_runner_on_unreachable(self, result: Any) -> None:
        """A host could not be reached."""
        self._end(result, "unreachable")

    def _end(self, ended: Any, status: str) -> None:
        result = ended._result
        if ended._task.no_log:
            result = {key: result[key] for key in ("changed",) if key in result}
        facts = {key: value for key, value in result.items() if key not in _ELSEWHERE and not key.startswith("_")}
        self._write(ended._host, ended._task, status, message=_message(result), diff=self._diff(result), facts=facts)

    def _diff(self, result: dict[str, Any]) -> str:
        parts = [
            result.get("diff"),
            *(item.get("diff") for item in result.get("results", []) if isinstance(item, dict)),
        ]
        return "\n".join(text for part in parts if part and (text := self._get_diff(part).strip("\n")))

    def _write(
        self, host: Any, task: Any, status: str, message: str = "", diff: str = "", facts: dict[str, Any] | None = None
    ) -> None:
        line = {
            "host": host.get_name(),
            "task": (task.name or task.action).strip(),
            "status": status,
            "message": message,
            "diff": diff,
            "facts": facts or {},
            "time": round(time.time(), 3),
        }
        print(json.dumps(line, default=str), file=self._out)


def _message(result: dict[str, Any]) -> str:
    """The message of a module; of a loop, those of its failed items."""
    items = [item for item in result.get("results", []) if isinstance(item, dict) and item.get("failed")]
    texts = [str(item["msg"]) for item in items if item.get("msg")] or [str(result.get("msg", ""))]
    more = [str(result[key]) for key in ("module_stderr", "stderr") if result.get("failed") and result.get(key)]
    return "\n".join(dict.fromkeys(text.strip() for text in [*texts, *more] if text.strip()))
