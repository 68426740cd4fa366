"""`kcluster produce` and `consume` beside kcat on the same cluster, and their memory as the work grows."""

from __future__ import annotations

import itertools
import json
import os
import subprocess
import sys
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.timing import in_turn, seconds

KCLUSTER = str(Path(sys.executable).with_name("kcluster"))
SIZES = {"100k": 100_000, "1M": 1_000_000}
FLAT = 1.5
"""Ten times the records may need at most this much more memory."""

Row = tuple[str, float, float, float]


def run(bootstrap: str | None = None) -> list[Row]:
    """Rows for both directions and both sizes, then memory; on a cluster made for it when none is given."""
    with tempfile.TemporaryDirectory() as folder, cluster(Path(folder), bootstrap) as (address, env):
        files = {size: _lines(Path(folder) / size, count) for size, count in SIZES.items()}
        rows = [row for size, file in files.items() for row in _speed(address, size, file, env)]
        return rows + _memory(address, files, env)


@contextmanager
def cluster(folder: Path, bootstrap: str | None) -> Iterator[tuple[str, dict[str, str]]]:
    """The address of a cluster, and the environment of the commands."""
    env = {**os.environ, "KCLUSTER_HOME": str(folder / "home")}
    if bootstrap:
        yield bootstrap, env
        return
    try:
        _quietly("up", "--name", "bench", env=env)
        asked = [KCLUSTER, "broker", "list", "--name", "bench", "-o", "json"]
        seen = subprocess.run(asked, check=True, env=env, capture_output=True, text=True)
        yield ",".join(broker["address"] for broker in json.loads(seen.stdout)["brokers"]), env
    finally:
        _quietly("down", "--name", "bench", "--delete-data", "--confirm", "bench", env=env)


def _quietly(*words: str, env: dict[str, str]) -> None:
    subprocess.run([KCLUSTER, *words], check=True, env=env, stdout=subprocess.DEVNULL)


def _lines(file: Path, count: int) -> Path:
    """A file of that many lines of 100 bytes."""
    with file.open("w") as out:
        out.writelines(f"{number:09d} {'x' * 89}\n" for number in range(count))
    return file


_numbers = itertools.count()


def _topic(bootstrap: str, env: dict[str, str]) -> str:
    name = f"bench-{os.getpid()}-{next(_numbers)}"
    _quietly("topic", "create", name, "--partitions", "6", "-r", "3", "--bootstrap", bootstrap, env=env)
    return name


def _speed(bootstrap: str, size: str, file: Path, env: dict[str, str]) -> list[Row]:
    """Both write to one topic each and read the same topic, in turn."""
    ours, theirs, read = (_topic(bootstrap, env) for _ in range(3))
    subprocess.run(["kcat", "-P", "-b", bootstrap, "-t", read, "-l", str(file)], check=True)
    runs = 5 if size == "100k" else 3
    wrote = in_turn(
        lambda: seconds([KCLUSTER, "produce", ours, "--bootstrap", bootstrap], env=env, stdin=str(file)),
        lambda: seconds(["kcat", "-P", "-b", bootstrap, "-t", theirs], stdin=str(file)),
        runs,
    )
    consume = [KCLUSTER, "consume", read, "--from-beginning", "-e", "--bootstrap", bootstrap]
    took = in_turn(
        lambda: seconds(consume, env=env),
        lambda: seconds(["kcat", "-C", "-b", bootstrap, "-t", read, "-o", "beginning", "-e", "-q"]),
        runs,
    )
    return [(f"produce {size} x 100 B / kcat (s)", *wrote, 3.0), (f"consume {size} x 100 B / kcat (s)", *took, 4.0)]


def _memory(bootstrap: str, files: dict[str, Path], env: dict[str, str]) -> list[Row]:
    """The largest memory for 1M records beside that for 100k, in MiB."""
    produced, consumed = {}, {}
    for size, file in files.items():
        topic = _topic(bootstrap, env)
        produced[size] = _peak([KCLUSTER, "produce", topic, "--file", str(file), "--bootstrap", bootstrap], env)
        consumed[size] = _peak([KCLUSTER, "consume", topic, "--from-beginning", "-e", "--bootstrap", bootstrap], env)
    return [
        ("produce memory, 1M / 100k (MiB)", produced["1M"], produced["100k"], FLAT),
        ("consume memory, 1M / 100k (MiB)", consumed["1M"], consumed["100k"], FLAT),
    ]


def _peak(command: list[str], env: dict[str, str]) -> float:
    """The largest resident size of one process in MiB."""
    process = subprocess.Popen(command, env=env, stdout=subprocess.DEVNULL)
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    assert process.returncode == 0, command
    return usage.ru_maxrss / 1024
