"""`ingest` beside a bare Spark job that only reads and parses, and what submitting and asking cost."""

from __future__ import annotations

import json
import statistics
import subprocess
import tempfile
import threading
import time
from pathlib import Path

from tests.bench.bench_records import KCLUSTER, cluster
from tests.bench.timing import seconds

RECORDS, FEW = 5_000_000, 1_000_000
TURNS = 3
SCRIPT = Path(__file__).with_name("bare_spark.py")

JOB = """
job: ingest
name: {name}
topics: [{topic}]
format:
  schema: {{truck_id: string, lat: double, lon: double, speed: double, time: timestamp}}
"""
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
    with tempfile.TemporaryDirectory() as name, cluster(Path(name), None) as (bootstrap, env):
        bench = Bench(Path(name), bootstrap, env)
        bench.fill("many", RECORDS)
        bench.fill("few", FEW)
        bench.fill("one", 1000)
        return [*bench.speed(), bench.memory(), bench.start(), *bench.questions()]


class Bench:
    """Topics on a cluster made for it, read by ours and by the yardsticks in turn."""

    def __init__(self, folder: Path, bootstrap: str, env: dict[str, str]) -> None:
        self.folder, self.bootstrap, self.env = folder, bootstrap, env
        self.peak = 0.0
        self._numbers = iter(range(1000))

    def fill(self, topic: str, records: int) -> None:
        """A topic with that many records."""
        words = ["topic", "create", topic, "-p", "10", "-r", "1", "-b", self.bootstrap]
        subprocess.run([KCLUSTER, *words], check=True, env=self.env, stdout=subprocess.DEVNULL)
        self._finished("trucks", PRODUCER.format(topic=topic, records=records))

    def ours(self, topic: str) -> tuple[float, float]:
        """Seconds of a whole ingest without its start, and from the command to the end of its first batch."""
        begin = time.time()
        folder = self._finished("ingest", JOB.format(topic=topic, name=f"bench-{next(self._numbers)}"))
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
        words = ["consume", "many", "--from-beginning", "-e", "-b", self.bootstrap]
        counted = seconds([KCLUSTER, *words], env=self.env)
        return [
            ("ingest 5M records / Spark reads and parses (s)", ours, statistics.median(two for _, two in pairs), 1.25),
            ("ingest 5M records / kcluster consume (s)", ours, counted, 4.0),
        ]

    def memory(self) -> tuple[str, float, float, float]:
        """The most memory of a run over five million records beside one over one million."""
        peaks = {}
        for topic in ("few", "many"):
            self.peak = 0.0
            self.ours(topic)
            peaks[topic] = self.peak
        return "ingest memory, 5M / 1M (MiB)", peaks["many"], peaks["few"], 1.3

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
        """Note the largest memory of the job while it runs."""
        while process.poll() is None:
            for folder in set(home.glob("*/*")) - before:
                self.peak = max(self.peak, _resident(folder))
            time.sleep(0.5)

    def _line(self) -> list[str]:
        """A `spark-submit` with the jars of the connector and nothing else."""
        home = Path(self.env.get("KCLUSTER_CACHE", Path.home() / ".cache/kcluster"), "spark/4.1.3")
        jars = ",".join(map(str, sorted(home.glob("*.jar"))))
        import pyspark

        return [f"{Path(pyspark.__file__).parent}/bin/spark-submit", "--master", "local[*]", "--jars", jars]


def _resident(folder: Path) -> float:
    """MiB of the process that a job's record names; 0 when it is not there."""
    try:
        record = json.loads((folder / "record.json").read_text())
        text = Path(f"/proc/{record['process']['pid']}/status").read_text()
    except (OSError, ValueError, KeyError):
        return 0.0
    return next((int(line.split()[1]) / 1024 for line in text.splitlines() if line.startswith("VmHWM")), 0.0)
