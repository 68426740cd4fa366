"""Settings of the demo producer."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from spark_jobs.settings.common import check_name, instant

BEGIN = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"


@dataclass(frozen=True)
class TrucksSettings:
    """All keys of the file."""

    job: str
    name: str = "trucks"
    topics: tuple[str, ...] = ("trucks_gps",)
    """The one topic to write to."""
    trucks: int = 100
    every: float = 20.0
    """Seconds between two positions of a truck, in simulated time."""
    records: int = 0
    """Number of records to write; 0: until the job is stopped."""
    rate: float = 0.0
    """Records per second; 0: real time, one per truck and `every` seconds; -1: full speed."""
    faulty: float = 0.0
    """Share of faulty records, 0.01 for one in a hundred."""
    seed: int = 1
    """Seed of the simulation: the same seed and begin give the same records."""
    begin: str = ""
    """The time of the first record, such as 2026-11-18T06:00:00Z; empty: so that the last one is now."""
    kafka: dict[str, str] = field(default_factory=dict)
    """Further producer properties, as librdkafka names them."""

    def check(self) -> Iterator[str]:
        """Findings of values that are out of range."""
        yield from check_name(self.name)
        if len(self.topics) != 1:
            yield "topics: must be exactly one topic"
        if self.trucks < 1:
            yield "trucks: must be at least 1"
        if not 0 <= self.faulty <= 1:
            yield f"faulty: {self.faulty} is not between 0 and 1"
        if self.records < 0:
            yield "records: must be 0 or more"
        if self.every <= 0:
            yield "every: must be more than 0 seconds"
        if self.rate < 0 and self.rate != -1:
            yield f"rate: {self.rate:g} is not valid; use records per second, 0 for real time or -1 for full speed"
        if re.fullmatch(BEGIN, self.begin):
            yield from instant("begin", self.begin)
        elif self.begin:
            yield f"begin: {self.begin} is not a timestamp such as 2026-11-18T06:00:00Z"
