"""What happens to trucks, told from their positions; without Spark and without Kafka."""

from __future__ import annotations

import json
import random
from collections import Counter
from typing import Any

import pytest

from spark_jobs.fleet.incidents import Alert, Fix, IncidentTracker
from spark_jobs.settings.alerts import AlertsSettings, Area, Box, Circle, Silent, Standing

MINUTE = 60_000
BEGIN = 1_790_000_000_000
HOME = (53.55, 10.0)
FAR = (54.55, 10.0)  # 111 km to the north
NEVER = 10**9
"""Minutes after which everything that waits was looked at."""

AREA = Area("home", circles=(Circle(*HOME, 10.0),))


def settings(**more: Any) -> AlertsSettings:
    return AlertsSettings(
        **{"job": "alerts", "topics": ("trucks",), "late": "2m", "ahead": "1m", "forget": "365d", **more}
    )


def at(minute: float, place: tuple[float, float] = HOME) -> Fix:
    return (BEGIN + round(minute * MINUTE), *place)


def north(metres: float, of: tuple[float, float] = HOME) -> tuple[float, float]:
    return (of[0] + metres / 111_195, of[1])


def feed(watch: IncidentTracker, *fixes: Fix, truck: str = "t", counts: Counter[str] | None = None) -> list[Alert]:
    return watch.add_batch([(truck, 0, list(fixes))], Counter() if counts is None else counts, more=False)


def brief(alerts: list[Alert]) -> list[str]:
    """Kind, minute of the beginning, and of the end if it is one."""
    minutes = [(each.kind, each.began - BEGIN, each.ended) for each in alerts]
    return [
        f"{kind} {began / MINUTE:g}" + ("" if ended is None else f" to {(ended - BEGIN) / MINUTE:g}")
        for kind, began, ended in minutes
    ]


def told(watch: IncidentTracker, *fixes: Fix) -> list[str]:
    """What positions of one truck tell once time has passed them."""
    return brief(feed(watch, *fixes) + watch.advance_idle(2 * MINUTE))


def test_a_truck_that_leaves_its_area_and_comes_back_is_one_incident() -> None:
    watch = IncidentTracker(settings(areas=(AREA,)))
    assert told(watch, at(0), at(1, FAR), at(2, FAR), at(3), at(4)) == ["area 1", "area 1 to 3"]


def test_a_truck_that_is_first_seen_outside_has_left() -> None:
    assert told(IncidentTracker(settings(areas=(AREA,))), at(0, FAR)) == ["area 0"]


def test_flapping_at_the_border_is_one_incident() -> None:
    watch = IncidentTracker(settings(areas=(AREA,), border_km=0.5))
    inside, border, outside = north(9_900), north(10_300), north(10_600)
    places = [inside, border, inside, border, outside, border, outside, border, outside, inside, border]
    assert told(watch, *(at(minute, place) for minute, place in enumerate(places))) == ["area 4", "area 4 to 9"]


def test_trucks_with_areas_of_their_own_do_not_belong_into_those_for_all() -> None:
    areas = (Area("all", boxes=(Box(50, 5, 60, 15),)), Area("home", "own-*", circles=(Circle(*HOME, 10.0),)))
    watch = IncidentTracker(settings(areas=areas))
    positions = [(name, 0, [at(0, FAR)]) for name in ("own-1", "other")]
    alerts = watch.add_batch(positions, Counter(), more=False) + watch.advance_idle(2 * MINUTE)
    assert [alert.incident for alert in alerts] == [f"own-1|area|{BEGIN}"]


@pytest.mark.parametrize(("lon", "out"), [(179.0, False), (-179.0, False), (177.0, True), (-177.0, True)])
def test_a_box_may_go_over_the_date_line(lon: float, out: bool) -> None:
    watch = IncidentTracker(settings(areas=(Area("fiji", boxes=(Box(-20, 178, -10, -178),)),)))
    assert bool(told(watch, at(0, (-15.0, lon)))) is out


def test_gps_noise_is_standing() -> None:
    chance = random.Random(1)
    fixes = [at(minute, north(chance.uniform(-90, 90))) for minute in range(1, 40)]
    watch = IncidentTracker(settings(standing=Standing("30m", 100.0)))
    assert told(watch, at(0), *fixes) == ["standing 0"]


def test_one_position_elsewhere_is_an_error_of_gps_and_two_are_a_journey() -> None:
    watch = IncidentTracker(settings(standing=Standing("10m", 100.0)))
    wrong = [at(0), at(4), at(5, FAR), at(6), at(10), at(11, FAR), at(12)]
    assert told(watch, *wrong) == ["standing 0"]
    assert told(watch, at(20, north(500)), at(21, north(1500))) == ["standing 0 to 20"]


def test_standing_begins_anew_where_a_journey_ends() -> None:
    watch = IncidentTracker(settings(standing=Standing("10m", 100.0)))
    journey = [at(minute, north(1000 * minute)) for minute in range(6)]
    rest = [at(minute, north(5000)) for minute in range(6, 20)]
    assert told(watch, *journey, *rest) == ["standing 5"]


def test_a_slow_truck_does_not_stand() -> None:
    watch = IncidentTracker(settings(standing=Standing("10m", 100.0)))
    assert told(watch, *(at(minute, north(30 * minute)) for minute in range(60))) == []


def test_a_truck_is_silent_when_others_go_on_and_speaks_again() -> None:
    watch = IncidentTracker(settings(silent=Silent("10m")))
    assert brief(feed(watch, at(0))) == []
    assert brief(feed(watch, at(5), at(12), truck="other")) == []  # the watermark is at 10: not longer than 10 minutes
    assert brief(feed(watch, at(12.5), truck="other")) == ["silent 0"]
    assert brief(feed(watch, at(13), truck="other")) == []
    assert brief(feed(watch, at(14))) == []  # waits for the watermark
    assert brief(feed(watch, at(16.5), truck="other")) == ["silent 0 to 14"]


def test_silence_that_ended_before_it_was_noticed_is_an_incident() -> None:
    assert told(IncidentTracker(settings(silent=Silent("10m"))), at(0), at(11)) == ["silent 0", "silent 0 to 11"]


def test_also_the_last_truck_is_found_silent_when_the_topic_is_quiet() -> None:
    watch = IncidentTracker(settings(silent=Silent("10m")))
    feed(watch, at(0))
    assert brief(watch.advance_idle(1 * MINUTE)) == []
    assert brief(watch.advance_idle(12 * MINUTE)) == []
    assert brief(watch.advance_idle(12 * MINUTE + 1)) == ["silent 0"]
    assert brief(watch.advance_idle(50 * MINUTE)) == []
    feed(watch, at(14))
    assert brief(watch.advance_idle(2 * MINUTE)) == ["silent 0 to 14"]


def test_a_quiet_topic_does_not_make_what_comes_next_late() -> None:
    watch, counts = IncidentTracker(settings(silent=Silent("10m"))), Counter[str]()
    feed(watch, at(0))
    watch.advance_idle(60 * MINUTE)
    feed(watch, at(1), counts=counts)
    assert counts == {}
    assert brief(watch.advance_idle(2 * MINUTE)) == ["silent 0 to 1"]


def test_what_comes_out_of_order_within_the_watermark_counts_in_its_order() -> None:
    watch, counts = IncidentTracker(settings(areas=(AREA,))), Counter[str]()
    alerts = []
    for fix in (at(1, FAR), at(0), at(3), at(2, FAR), at(4, FAR)):
        alerts += feed(watch, fix, counts=counts)
    assert brief(alerts + watch.advance_idle(2 * MINUTE)) == ["area 1", "area 1 to 3", "area 4"]
    assert counts == {}


def test_what_comes_behind_the_watermark_is_counted_and_left_out() -> None:
    watch, counts = IncidentTracker(settings(areas=(AREA,))), Counter[str]()
    alerts = feed(watch, at(0), at(10), counts=counts)
    alerts += feed(watch, at(8, FAR), at(7.9, FAR), counts=counts)
    assert brief(alerts + watch.advance_idle(2 * MINUTE)) == []
    assert counts == {"late": 2}


def test_duplicates_are_counted_and_change_nothing() -> None:
    watch, counts = IncidentTracker(settings(areas=(AREA,))), Counter[str]()
    alerts = feed(watch, at(0), at(1, FAR), at(1, FAR), at(1), counts=counts)
    alerts += feed(watch, at(1, FAR), counts=counts)
    assert brief(alerts + watch.advance_idle(2 * MINUTE)) == ["area 1"]
    feed(watch, at(1), counts=counts)
    assert counts == {"duplicates": 4}


def test_a_clock_that_is_behind_does_not_hold_up_the_others() -> None:
    watch = IncidentTracker(settings(silent=Silent("10m")))
    for minute in range(20):
        watch.add_batch([("behind", 0, [at(-60 + minute)]), ("good", 1, [at(minute)])], Counter(), more=False)
    assert watch.watermark == at(17)[0]


def test_while_there_is_a_backlog_the_slowest_partition_says_what_time_it_is() -> None:
    watch, counts = IncidentTracker(settings(silent=Silent("10m"))), Counter[str]()
    assert watch.add_batch([("fast", 0, [at(100)]), ("slow", 1, [at(5)])], counts, more=True) == []
    alerts = watch.add_batch([("slow", 1, [at(minute) for minute in range(6, 101)])], counts, more=False)
    assert brief(alerts) == []
    assert counts == {}


def test_a_truck_is_forgotten_after_a_long_time() -> None:
    watch = IncidentTracker(settings(silent=Silent("10m"), forget="1d"))
    feed(watch, at(0))
    feed(watch, at(0), truck="other")
    feed(watch, at(2 * 24 * 60), truck="other")
    assert set(watch.trucks) == {"other"}


def journey(seed: int) -> list[tuple[str, Fix]]:
    """Trucks that leave, stand and are silent, in the order of their time."""
    chance = random.Random(seed)
    fixes = []
    for truck in range(5):
        minute, place = 0.0, HOME
        for _ in range(150):
            minute += chance.choice([0.3, 0.5, 1, 1, 1, 14])
            place = chance.choice([place, place, place, north(chance.uniform(0, 300), place), HOME, FAR])
            fixes.append((f"t{truck}", at(minute, place)))
    return sorted(fixes, key=lambda each: each[1][0])


def through(fixes: list[tuple[str, Fix]], sizes: random.Random) -> list[Alert]:
    """In batches of any size, with all that is remembered written and read in between."""
    rules = settings(areas=(AREA,), standing=Standing("5m", 100.0), silent=Silent("10m"))
    watch, alerts = IncidentTracker(rules), list[Alert]()
    while fixes:
        size = sizes.randint(1, 60)
        batch, fixes = fixes[:size], fixes[size:]
        alerts += watch.add_batch([(truck, 0, [fix]) for truck, fix in batch], Counter(), more=False)
        watch = IncidentTracker(rules, json.loads(json.dumps(watch.to_json())))
    return alerts + watch.advance_idle(2 * MINUTE)


@pytest.mark.parametrize("seed", range(5))
def test_the_same_positions_give_the_same_incidents_however_they_come(seed: int) -> None:
    """Cut into other batches, with neighbours swapped and some sent twice."""
    fixes = journey(seed)
    expected = through(fixes, random.Random(0))
    chance = random.Random(seed)
    # Nothing is moved further than what the watermark allows.
    shaken = sorted(fixes, key=lambda each: each[1][0] + chance.uniform(0, 1.9 * MINUTE))
    again = [each for fix in shaken for each in [fix] * chance.choice([1, 1, 2])]
    alerts = through(again, chance)
    kinds = Counter(alert.kind for alert in expected)
    assert min(kinds["area"], kinds["standing"], kinds["silent"]) > 10
    assert sorted(map(str, alerts)) == sorted(map(str, expected))
    ids = Counter((alert.incident, alert.ended is None) for alert in alerts)
    assert set(ids.values()) == {1}
    assert all((incident, True) in ids for incident, _ in ids)


def test_a_file_without_alerts_or_with_invalid_values_has_findings() -> None:
    wrong = settings(
        late="1m",
        batch=settings().batch,
        areas=(Area("a"), Area("b", circles=(Circle(91, 0, 0),), boxes=(Box(2, 0, 1, 0),))),
    )
    assert list(wrong.check()) == [
        "ahead: 1m must be less than late (1m)",
        "areas[0]: needs circles or boxes",
        "areas[1].circles[0]: 91, 0 is not a valid latitude and longitude",
        "areas[1].circles[0].km: must be more than 0",
        "areas[1].boxes[0]: south must be less than north",
    ]
    assert list(settings().check()) == ["no alert is configured; set areas, standing or silent"]
