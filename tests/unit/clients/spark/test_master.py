"""What a master's page says, and what is made of pages that no master has."""

from __future__ import annotations

import json
from collections.abc import Iterator
from typing import Any

import pytest

from kcluster.clients.spark import master
from kcluster.clients.spark.master import MasterState
from kcluster.errors import UnreachableError
from tests.web import Web, serving


@pytest.fixture
def page() -> Iterator[Web]:
    """The web page of a master."""
    with serving() as web:
        yield web


def asked(page: Web, text: Any) -> MasterState:
    page.files["/json/"] = text if isinstance(text, bytes) else json.dumps(text).encode()
    return master.master_state("127.0.0.1", int(page.url.rpartition(":")[2]))


def told(status: str, *workers: dict[str, Any]) -> dict[str, Any]:
    return {"status": status, "workers": workers, "activeapps": [{"id": "app-1", "name": "ingest", "cores": 2}]}


def worker(host: str, state: str) -> dict[str, Any]:
    room = {"cores": 4, "coresused": 2, "coresfree": 2, "memory": 2048, "memoryused": 1024, "memoryfree": 1024}
    return {"id": f"worker-{host}", "host": host, "port": 7078, "state": state, **room}


def test_a_master_that_leads_tells_its_workers(page: Web) -> None:
    said = asked(page, told("ALIVE", worker("h1", "ALIVE"), worker("h2", "DEAD")))
    assert said.leads
    assert said.workers == {("h1", 7078): "ALIVE", ("h2", 7078): "DEAD"}


@pytest.mark.parametrize("status", ["STANDBY", "RECOVERING"])
def test_another_does_not_lead(page: Web, status: str) -> None:
    said = asked(page, told(status))
    assert (said.status, said.leads, said.workers) == (status, False, {})


@pytest.mark.parametrize("states", [["DEAD", "ALIVE"], ["ALIVE", "DEAD"]])
def test_a_worker_that_came_back_is_there_twice_and_alive(page: Web, states: list[str]) -> None:
    said = asked(page, told("ALIVE", *(worker("h1", state) for state in states)))
    assert said.workers == {("h1", 7078): "ALIVE"}


@pytest.mark.parametrize(
    "garbage", [b"", b"<html>please log in</html>", {"status": "ALIVE"}, {"workers": []}, [], "ALIVE", {"workers": 1}]
)
def test_what_is_no_masters_page_is_no_master(page: Web, garbage: Any) -> None:
    with pytest.raises(UnreachableError, match=r"no Spark master answers at 127\.0\.0\.1:\d+"):
        asked(page, garbage)


def test_an_error_page_and_a_closed_port_are_not_masters(page: Web) -> None:
    with pytest.raises(UnreachableError, match="404"):
        master.master_state("127.0.0.1", int(page.url.rpartition(":")[2]))
    with pytest.raises(UnreachableError, match="refused"):
        master.master_state("127.0.0.1", 1)


def test_no_proxy_is_asked(page: Web, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("http_proxy", "http://127.0.0.1:1")
    assert asked(page, told("STANDBY")).status == "STANDBY"
