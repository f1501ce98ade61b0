"""Slow work does not block other requests, and one client cannot take all of its threads."""

import asyncio
import threading
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from selfplay.web.app import create_app
from selfplay.web.match_service import MOST_WAITING, MatchService
from selfplay.web.requested_match import RequestedMatch
from tests.web.conftest import ADDRESS, web_settings
from tests.web.match_requests import Json, described

QUICK, SLOW = described(opponent="level-1", moves="1,1"), described(opponent="search-2", moves="1,1")


class Gate:
    """Holds every request that searches until the test opens it; counts those that are held."""

    def __init__(self) -> None:
        self.held, self.opened = threading.Semaphore(0), threading.Event()

    def pass_through(self) -> None:
        self.held.release()
        assert self.opened.wait(60)

    async def until_held(self, count: int) -> None:
        async with asyncio.timeout(60):
            for _ in range(count):
                while not self.held.acquire(blocking=False):
                    await asyncio.sleep(0.01)


@pytest.fixture
def gate(monkeypatch: pytest.MonkeyPatch) -> Iterator[Gate]:
    made, advance = Gate(), RequestedMatch.advance

    def slow_advance(self: RequestedMatch) -> None:
        if any(seat is not None and seat.is_slow for seat in self.seats):
            made.pass_through()
        advance(self)

    monkeypatch.setattr(RequestedMatch, "advance", slow_advance)
    yield made
    made.opened.set()


def client_of(app: FastAPI, address: str = "192.0.2.7") -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app, client=(address, 5000)), base_url=ADDRESS)


async def answer(client: httpx2.AsyncClient, match: Json) -> Json:
    response = await client.post("/api/match", json=match | {"advance": True})
    assert response.status_code == 200, response.text
    view: Json = response.json()["match"]
    return view


def asked(client: httpx2.AsyncClient, match: Json, count: int) -> "list[asyncio.Task[Any]]":
    return [asyncio.create_task(answer(client, match)) for _ in range(count)]


def test_a_search_does_not_block_other_requests(app: FastAPI, gate: Gate) -> None:
    async def try_it() -> None:
        async with client_of(app) as client:
            slow = asked(client, SLOW, 1)
            await gate.until_held(1)
            assert len((await answer(client, QUICK))["plies"]) == 2
            assert not slow[0].done()
            gate.opened.set()
            assert len((await slow[0])["plies"]) == 2

    asyncio.run(try_it())


def test_one_client_cannot_take_all_threads_and_must_try_again_if_too_many_wait(run_dir: Path, gate: Gate) -> None:
    service = MatchService(web_settings(run_dir, client_searches=2))
    app = create_app(service)

    async def try_it() -> None:
        async with client_of(app) as greedy, client_of(app, "2001:db8::1") as other:
            slow = asked(greedy, SLOW, 2 + MOST_WAITING)
            await gate.until_held(2)
            while sum(one.statistics().tasks_waiting for one in service.slow.clients.values()) < MOST_WAITING:
                await asyncio.sleep(0.01)
            refused = await greedy.post("/api/match", json=SLOW | {"advance": True})
            assert (refused.status_code, refused.headers["Retry-After"]) == (503, "2")
            assert f"{MOST_WAITING} slow requests of this client are waiting" in refused.json()["error"]
            # Quick requests of this client, and slow ones of others, are answered.
            assert len((await answer(greedy, QUICK))["plies"]) == 2
            one = asked(other, SLOW, 1)
            await gate.until_held(1)
            gate.opened.set()
            assert {len(view["plies"]) for view in await asyncio.gather(*slow, *one)} == {2}
            assert service.slow.clients == {}

    asyncio.run(try_it())
