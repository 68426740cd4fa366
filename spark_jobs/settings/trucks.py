"""What the file of the demo's producer may say."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from spark_jobs.settings.common import check_name, instant

BEGIN = r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d(\.\d+)?(Z|[+-]\d\d:\d\d)"


@dataclass(frozen=True)
class TrucksSettings:
    """The whole file."""

    job: str
    name: str = "trucks"
    topics: tuple[str, ...] = ("trucks_gps",)
    """The one topic to write to."""
    trucks: int = 100
    every: float = 20.0
    """Seconds between two positions of a truck, by the trucks' clock."""
    records: int = 0
    """How many to write; 0: until it is stopped."""
    rate: float = 0.0
    """Records per second; 0: as time passes for trucks that report every `every` seconds; -1: as fast as possible."""
    faulty: float = 0.0
    """The share of records that no job can read, 0.01 for one in a hundred."""
    seed: int = 1
    """The same seed and begin give the same records."""
    begin: str = ""
    """The time of the first record, such as 2026-11-18T06:00:00Z; empty: now, or so early that the last one is now."""
    kafka: dict[str, str] = field(default_factory=dict)
    """Further settings of the producer, in librdkafka's words."""

    def check(self) -> Iterator[str]:
        """What does not fit together."""
        yield from check_name(self.name)
        if len(self.topics) != 1:
            yield "topics: trucks write to one topic"
        if self.trucks < 1:
            yield "trucks: must be at least 1"
        if not 0 <= self.faulty <= 1:
            yield f"faulty: {self.faulty} is no share between 0 and 1"
        if self.records < 0:
            yield "records: must be 0 or more"
        if self.every <= 0:
            yield "every: must be more than 0 seconds"
        if self.rate < 0 and self.rate != -1:
            yield f"rate: {self.rate:g} is not possible; write records per second, 0 as time passes, -1 at full speed"
        if re.fullmatch(BEGIN, self.begin):
            yield from instant("begin", self.begin)
        elif self.begin:
            yield f"begin: {self.begin} is no instant; write it like 2026-11-18T06:00:00Z"
