"""What a job told of its batches, from its file, while it may be writing."""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any


def batches(folder: Path) -> list[dict[str, Any]]:
    """One object per batch; a line that is half written waits."""
    file = folder / "progress.jsonl"
    whole = file.read_bytes().rpartition(b"\n")[0] if file.exists() else b""
    return [json.loads(line) for line in whole.splitlines()]
