from __future__ import annotations

import json
import os
import signal
import socket
import subprocess
import sys
import time
import urllib.error
import urllib.request
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from dataclasses import asdict
from pathlib import Path
from typing import Any

import pytest

from kcluster.clients.processes import Process
from kcluster.jobs import registry
from kcluster.jobs.registry import JobRecord
from tests.children import child
from tests.spark.browser import Browser, browser

DEAD = Process(2**22 + 1, 1)
"""No process: pids end before."""


class LatestJob:
    """A job `latest` as the CLI and the job leave it, and the dashboard beside it."""

    def __init__(self, home: Path, name: str = "latest") -> None:
        self.home, self.name = home, name
        self.folder = home / "jobs" / "prod" / name
        self.folder.mkdir(parents=True)
        self.sink = home / "lake" / "prod" / name
        self.lives()
        self.is_("running")

    def lives(self, process: Process | None = None) -> None:
        """The record of the job; without a process it is of this one, which lives."""
        started = int(Path("/proc/self/stat").read_text().rpartition(")")[2].split()[19])
        record = JobRecord(
            job="latest",
            name=self.name,
            cluster="prod",
            cluster_id="id",
            topics=["trucks_gps"],
            bootstrap="b:9092",
            master="local[2]",
            once=False,
            checkpoint="",
            sink=str(self.sink),
            submitted=1.0,
            command="spark-submit",
            process=process or Process(os.getpid(), started),
        )
        registry.save_json(self.folder / "record.json", asdict(record))

    def is_(self, state: str, **more: Any) -> None:
        """What the job told of itself."""
        registry.save_json(self.folder / "state.json", {"state": state, "at": time.time(), **more})

    def trucks(self, *trucks: Mapping[str, Any], lag: int = 0) -> None:
        """What the job wrote, each truck so many seconds ago."""
        told = [{"speed": None, "bearing": None, "lat": 52.0, "lon": 10.0, **truck} for truck in trucks]
        for truck in told:
            instant = time.gmtime(time.time() - truck.pop("ago", 0))
            truck["time"] = time.strftime("%Y-%m-%dT%H:%M:%SZ", instant)
        self.sink.mkdir(parents=True, exist_ok=True)
        registry.save_json(self.sink / "latest.json", {"as_of": time.time(), "batch": 1, "lag": lag, "trucks": told})

    def command(self, *args: str) -> list[str]:
        """The command line of the dashboard."""
        return [sys.executable, "-m", "kcluster", "job", *args]

    @property
    def env(self) -> dict[str, str]:
        """The environment in which the CLI finds this job."""
        return {**os.environ, "KCLUSTER_HOME": str(self.home)}

    def run(self, *args: str) -> subprocess.CompletedProcess[str]:
        """Run `kcluster job` as a user would."""
        return subprocess.run(self.command(*args), capture_output=True, text=True, env=self.env, timeout=120)


def free() -> int:
    with socket.socket() as door:
        door.bind(("127.0.0.1", 0))
        return int(door.getsockname()[1])


@contextmanager
def shown(latest_job: LatestJob) -> Iterator[str]:
    """The address of a dashboard in the background, as `--detach` tells it."""
    done = latest_job.run("dashboard", "--detach", "--port", str(free()), "-o", "json")
    assert done.returncode == 0, done.stderr
    try:
        yield json.loads(done.stdout)["url"]
    finally:
        stopped = latest_job.run("stop", f"{latest_job.name}-dashboard")
        assert stopped.returncode == 0, stopped.stderr


def get(url: str, **headers: str) -> tuple[int, dict[str, str], bytes]:
    asked = urllib.request.Request(url, headers={name.replace("_", "-"): value for name, value in headers.items()})
    try:
        with urllib.request.urlopen(asked, timeout=30) as answer:
            return answer.status, dict(answer.headers), answer.read()
    except urllib.error.HTTPError as answer:
        with answer:
            return answer.code, dict(answer.headers), answer.read()


@pytest.fixture
def latest_job(tmp_path: Path) -> LatestJob:
    return LatestJob(tmp_path / "home")


@pytest.fixture(scope="module")
def page(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Browser]:
    """One browser for all tests: it takes seconds to start."""
    with browser(tmp_path_factory.mktemp("profile")) as started:
        yield started


def rows(page: Browser) -> list[list[str]]:
    script = "[...document.querySelectorAll('#trucks tr')].map(r => [...r.cells].map(c => c.textContent))"
    return [list(row) for row in page.value(script)]


def test_the_page_shows_the_trucks_and_follows_them(page: Browser, latest_job: LatestJob) -> None:
    with shown(latest_job) as url:
        page.size(1280, 800)
        page.open(url)
        page.until("document.body.innerText.includes('No truck has reported yet')")
        assert "kcluster job submit trucks" in page.text()
        latest_job.trucks(
            {"id": "truck-b", "lat": 52.5, "lon": 13.4, "speed": 81.6, "bearing": 90.0, "ago": 3},
            {"id": "truck-a", "lat": -33.9, "lon": -70.6, "speed": 0.0, "ago": 120},
            {"id": "<b>truck-c</b>", "ago": 4000},
            lag=1234,
        )
        page.until("document.querySelectorAll('#trucks tr').length === 3")
        told = rows(page)
        assert [row[0] for row in told] == ["<b>truck-c</b>", "truck-a", "truck-b"]
        assert told[1][1:3] == ["33.9000° S 70.6000° W", "0"]
        assert told[2][1:3] == ["52.5000° N 13.4000° E", "82"]
        assert told[0][2:] == ["–", "67 min"]
        dots = page.value("[...document.querySelectorAll('#trucks i')].map(i => i.className)")
        assert dots == ["silent", "late", "fresh"]
        figures = {name: page.value(f"document.getElementById('{name}').textContent") for name in FIGURES}
        assert figures == FIGURES
        assert not page.value("document.getElementById('empty').checkVisibility()")
        page.click("th[data-by=age] button")
        assert [row[0] for row in rows(page)] == ["truck-b", "truck-a", "<b>truck-c</b>"]
        page.click("th[data-by=age] button")
        assert rows(page)[0][0] == "<b>truck-c</b>"
        latest_job.trucks({"id": "truck-b", "lat": 53.25, "lon": 13.5, "speed": 60.0, "bearing": 10.0})
        page.until("document.querySelectorAll('#trucks tr').length === 1")
        assert rows(page)[0][1] == "53.2500° N 13.5000° E"
        assert page.said == [], "the browser complained"


FIGURES = {"count": "3", "moving": "1", "silent": "1", "lag": "1,234", "job": "running", "cluster": "latest of prod"}


def test_trucks_are_drawn_where_they_are_and_can_be_found_and_chosen(page: Browser, latest_job: LatestJob) -> None:
    north = {"id": "north", "lat": 54.0, "lon": 10.0, "speed": 50.0, "bearing": 180.0}
    latest_job.trucks(north, {"id": "south", "lat": 48.0, "lon": 10.0})
    with shown(latest_job) as url:
        page.size(1280, 800)
        page.open(url)
        page.until("document.querySelectorAll('#trucks tr').length === 2")
        page.until(f"{GREEN}(54, 10) && {GREEN}(48, 10)")
        assert not page.value(f"{GREEN}(51, 10)")
        page.value("at('find').value = 'sou'; show()")
        assert [row[0] for row in rows(page)] == ["south"]
        page.click("#trucks tr")
        page.until("document.querySelector('tr.chosen').dataset.id === 'south'")
        middle = page.value("[globe(middle[1]), middle[0] * 360]")
        assert middle == pytest.approx([48, 10])
        page.click("[data-zoom=fit]")
        assert page.value("globe(middle[1])") == pytest.approx(51, abs=0.2)


GREEN = """((lat, lon) => {
    const [x, y] = onscreen(plane(lat, lon)), dots = devicePixelRatio, want = colours.fresh?.match(/\\w\\w/g);
    const got = pen.getImageData(x * dots, y * dots, 1, 1).data;
    return want && want.every((part, index) => Math.abs(parseInt(part, 16) - got[index]) < 12);
})"""
"""Whether the map has the colour of a fresh truck at a place."""


def test_a_narrow_window_and_a_dark_one_show_the_same(page: Browser, latest_job: LatestJob) -> None:
    truck = {"lon": 10.4444, "speed": 88.8, "ago": 5400}
    latest_job.trucks(*({**truck, "id": f"truck-{number:05d}", "lat": 50 + number / 10} for number in range(30)))
    with shown(latest_job) as url:
        page.size(400, 800)
        page.dark(False)
        page.open(url)
        page.until("document.querySelectorAll('#trucks tr').length === 30")
        assert page.value("document.documentElement.scrollWidth") == 400
        assert page.value("at('rows').scrollWidth <= at('rows').clientWidth"), "the table is cut off"
        assert page.value("at('map').clientHeight") > 300
        light = page.value("getComputedStyle(document.body).backgroundColor")
        page.dark(True)
        assert page.value("getComputedStyle(document.body).backgroundColor") != light
        page.dark(False)
        page.size(1280, 800)
        assert page.value("at('rows').scrollWidth <= at('rows').clientWidth"), "the table is cut off"


def test_an_ended_job_and_a_stopped_server_are_shown(page: Browser, latest_job: LatestJob) -> None:
    latest_job.trucks({"id": "truck-a"}, lag=7)
    with shown(latest_job) as url:
        page.open(url)
        page.until("at('lag').textContent === '7'")
        page.value("told.as_of -= 61; show()")
        assert page.value("at('lag').textContent") == "–", "a lag of a minute ago is none"
        latest_job.trucks({"id": "truck-a"}, lag=7)
        page.until("at('lag').textContent === '7'")
        assert page.value("at('trouble').textContent") == ""
        latest_job.is_("failed", cause="the disk is full", advice="make room")
        page.until("at('trouble').textContent")
        assert "The job latest has failed" in page.text()
        assert "the disk is full Try: make room" in page.text()
        latest_job.lives(DEAD)
        latest_job.is_("running")
        page.until("at('job').textContent === 'died' && at('job').className === 'bad'")
        assert len(rows(page)) == 1, "the last positions are gone"
        assert page.value("at('lag').textContent") == "–", "nobody knows how far a dead job is behind"
    page.until("at('trouble').textContent.includes('server has not answered')")


def test_the_server_has_one_page_and_two_files_and_safe_headers(latest_job: LatestJob) -> None:
    latest_job.trucks({"id": "truck-a"})
    with shown(latest_job) as url:
        status, headers, body = get(url)
        assert (status, headers["Content-Type"]) == (200, "text/html; charset=utf-8")
        assert "http" not in body.decode().replace("http://www.w3.org/2000/svg", ""), "it asks others for something"
        policy = headers["Content-Security-Policy"]
        assert policy.startswith("default-src 'none'; script-src 'sha256-")
        assert "unsafe" not in policy
        assert (headers["X-Content-Type-Options"], headers["Cache-Control"]) == ("nosniff", "no-store")
        assert json.loads(get(f"{url}state.json")[2])["state"] == "running"
        status, headers, body = get(f"{url}latest.json")
        assert json.loads(body)["trucks"][0]["id"] == "truck-a"
        assert get(f"{url}latest.json", If_None_Match=headers["ETag"])[::2] == (304, b"")
        latest_job.trucks({"id": "truck-b"})
        assert get(f"{url}latest.json", If_None_Match=headers["ETag"])[0] == 200
        assert [get(url + path)[0] for path in ("record.json", "../state.json", "state.json/")] == [404] * 3
        assert get(url, Host="evil.example")[0] == 421
        asked = urllib.request.Request(url, data=b"x", method="POST")
        with pytest.raises(urllib.error.HTTPError, match="501") as refused:
            urllib.request.urlopen(asked, timeout=30)
        refused.value.close()


def test_it_serves_this_machine_only_and_ctrl_c_ends_it_quietly(latest_job: LatestJob) -> None:
    port = free()
    with child(
        latest_job.command("dashboard", "--port", str(port)), stdout=-1, stderr=-1, text=True, env=latest_job.env
    ) as serving:
        assert f"dashboard of latest: http://127.0.0.1:{port}/" in serving.stderr.readline()
        assert get(f"http://127.0.0.1:{port}/")[0] == 200
        listening = Path("/proc/net/tcp").read_text().splitlines()
        assert any(f"0100007F:{port:04X} 00000000:0000 0A" in line for line in listening)
        taken = latest_job.run("dashboard", "--port", str(port), "--detach")
        assert (taken.returncode, taken.stderr.splitlines()[0]) == (2, f"error: port {port} is in use")
        assert "--port" in taken.stderr.splitlines()[1]
        serving.send_signal(signal.SIGINT)
        out, rest = serving.communicate(timeout=30)
    assert (serving.returncode, rest) == (0, "")
    assert "dashboard stopped" in out


def test_in_the_background_it_is_a_job_like_others(latest_job: LatestJob) -> None:
    with shown(latest_job) as url:
        assert f"web         {url}" in latest_job.run("status", "latest-dashboard").stdout
        listed = json.loads(latest_job.run("list", "-o", "json").stdout)["submitted"]
        assert [(job["name"], job["state"]) for job in listed] == [
            ("latest", "running"),
            ("latest-dashboard", "running"),
        ]
        again = latest_job.run("dashboard", "--detach", "--port", str(free()))
        assert (again.returncode, "latest-dashboard is already running" in again.stderr) == (7, True)
    assert "latest-dashboard: stopped" in latest_job.run("status", "latest-dashboard").stdout


def test_without_a_job_or_with_several_it_says_what_to_do(latest_job: LatestJob) -> None:
    LatestJob(latest_job.home, "other")
    several = latest_job.run("dashboard")
    assert (several.returncode, "prod/latest, prod/other" in several.stderr) == (2, True)
    for name in ("latest", "other"):
        (latest_job.home / "jobs" / "prod" / name / "record.json").unlink()
    none = latest_job.run("dashboard")
    assert none.returncode == 4
    assert "try: kcluster job submit latest" in none.stderr
