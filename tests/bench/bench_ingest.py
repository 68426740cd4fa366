"""`ingest` beside a bare Spark job that only reads and parses, and what submitting and asking cost."""

from __future__ import annotations

import json
import statistics
import subprocess
import sys
import tempfile
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from tests.bench.bench_records import KCLUSTER, cluster
from tests.bench.timing import seconds

RECORDS = 5_000_000
TURNS = 3
SCRIPT = Path(__file__).with_name("bare_spark.py")
COUNT = Path(__file__).with_name("bare_consumer.py")

JOB = """
job: ingest
name: {name}
topics: [{topic}]
format:
  schema: {{truck_id: string, lat: double, lon: double, speed: double, time: timestamp}}
"""
HUNDRED_BATCHES = """
batch: {max_records: 50000}
spark: {spark.driver.extraJavaOptions: "-Xms1g -XX:+AlwaysPreTouch"}
"""
"""With the whole heap there from the beginning: what grows then is no heap that was not used before."""
PRODUCER = """
job: trucks
name: fill-{topic}
topics: [{topic}]
trucks: 5000
records: {records}
rate: -1
"""


def run() -> list[tuple[str, float, float, float]]:
    """Rows for speed, memory, the way to the first batch, and the questions people ask."""
    with bench() as made:
        made.fill("many", RECORDS)
        made.fill("one", 1000)
        return [*made.speed(), made.memory(), made.start(), *made.questions()]


@contextmanager
def bench() -> Iterator[Bench]:
    """A cluster for a measure."""
    with tempfile.TemporaryDirectory() as name, cluster(Path(name), None) as (bootstrap, env):
        yield Bench(Path(name), bootstrap, env)


class Bench:
    """Topics on a cluster made for it, read by ours and by the yardsticks in turn."""

    def __init__(self, folder: Path, bootstrap: str, env: dict[str, str]) -> None:
        self.folder, self.bootstrap, self.env = folder, bootstrap, env
        self.resident: list[float] = []
        """MiB of the job that ran last, every half second."""
        self._numbers = iter(range(1000))

    def fill(self, topic: str, records: int) -> None:
        """A topic with that many records."""
        words = ["topic", "create", topic, "-p", "10", "-r", "1", "-b", self.bootstrap]
        subprocess.run([KCLUSTER, *words], check=True, env=self.env, stdout=subprocess.DEVNULL)
        self._finished("trucks", PRODUCER.format(topic=topic, records=records))

    def ours(self, topic: str, more: str = "") -> tuple[float, float]:
        """Seconds of a whole ingest without its start, and from the command to the end of its first batch."""
        begin = time.time()
        folder = self._finished("ingest", JOB.format(topic=topic, name=f"bench-{next(self._numbers)}") + more)
        batches = [json.loads(line) for line in (folder / "progress.jsonl").read_text().splitlines()]
        started = batches[0]["at"] - batches[0]["seconds"]
        return batches[-1]["at"] - started, batches[0]["at"] - begin

    def bare(self, what: str, topic: str) -> tuple[float, float]:
        """Seconds of the yardstick without its start, and from the command to its end."""
        line = self._line()
        begin = time.time()
        done = subprocess.run(
            [*line, str(SCRIPT), what, self.bootstrap, topic], check=True, env=self.env, capture_output=True, text=True
        )
        first, last = map(float, done.stdout.split()[-2:])
        return last - first, last - begin

    def speed(self) -> list[tuple[str, float, float, float]]:
        """Both over the same five million records, in turn; and a consumer that only counts them."""
        pairs = [(self.ours("many")[0], self.bare("whole", "many")[0]) for _ in range(TURNS)]
        ours = statistics.median(one for one, _ in pairs)
        counted = seconds([sys.executable, str(COUNT), self.bootstrap, "many", str(RECORDS)], env=self.env)
        return [
            ("ingest 5M records / Spark reads and parses (s)", ours, statistics.median(two for _, two in pairs), 1.25),
            ("ingest 5M records / a consumer that only counts them (s)", ours, counted, 4.0),
        ]

    def memory(self) -> tuple[str, float, float, float]:
        """The memory at the end of a hundred batches beside that half-way."""
        self.ours("many", HUNDRED_BATCHES)
        tenth = len(self.resident) // 10
        # Not the most: a program that the JVM just starts shares its memory, and is counted as large for a moment.
        half_way, end = (statistics.median(self.resident[from_ * tenth :][: 2 * tenth]) for from_ in (4, 8))
        return "ingest memory, end of 100 batches / half-way, JVM and Python (MiB)", end, half_way, 1.1

    def start(self) -> tuple[str, float, float, float]:
        """From the command to the first batch."""
        pairs = [(self.ours("one")[1], self.bare("first", "one")[1]) for _ in range(TURNS)]
        ours, bare = (statistics.median(side) for side in zip(*pairs, strict=True))
        return "submit to first batch / spark-submit (s)", ours, bare, 1.3

    def questions(self) -> list[tuple[str, float, float, float]]:
        """What the records of jobs answer."""
        took = {word: [seconds([KCLUSTER, "job", word], env=self.env) for _ in range(5)] for word in ("list", "status")}
        return [(f"job {word} (s) / limit", statistics.median(times), 0.5, 1.0) for word, times in took.items()]

    def _finished(self, job: str, text: str) -> Path:
        """Run a job to its end; its folder."""
        file = self.folder / f"{job}.yml"
        file.write_text(text)
        home = Path(self.env["KCLUSTER_HOME"], "jobs")
        before = set(home.glob("*/*"))
        words = ["job", "submit", job, "--config", str(file), "--once", "-b", self.bootstrap]
        with subprocess.Popen([KCLUSTER, *words], env=self.env, stdout=subprocess.DEVNULL) as process:
            watch = threading.Thread(target=self._watch, args=(process, home, before))
            watch.start()
            assert process.wait() == 0, words
            watch.join()
        (folder,) = set(home.glob("*/*")) - before
        return folder

    def _watch(self, process: subprocess.Popen[bytes], home: Path, before: set[Path]) -> None:
        """Note the memory of the job while it runs."""
        self.resident = []
        while process.poll() is None:
            self.resident += [_resident(folder) for folder in set(home.glob("*/*")) - before]
            time.sleep(0.5)

    def _line(self) -> list[str]:
        """A `spark-submit` with the jars of the connector and nothing else."""
        import pyspark

        from kcluster.clients.spark import connector

        jars = ",".join(map(str, connector.kafka_jars(print)))
        return [f"{Path(pyspark.__file__).parent}/bin/spark-submit", "--master", "local[*]", "--jars", jars]


def _resident(folder: Path) -> float:
    """MiB of the process that a job's record names and of all that it started; 0 when it is not there."""
    try:
        first = json.loads((folder / "record.json").read_text())["process"]["pid"]
        listed = subprocess.run(["ps", "-eo", "pid=,ppid=,rss="], capture_output=True, text=True, check=True).stdout
    except (OSError, ValueError, KeyError):
        return 0.0
    found, total = {first}, 0
    for pid, parent, size in sorted(tuple(map(int, line.split())) for line in listed.splitlines()):
        if pid in found or parent in found:
            found.add(pid)
            total += size
    return total / 1024
