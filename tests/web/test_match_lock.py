"""Slow work does not block other matches, and the requests on one match wait for each other."""

import asyncio
import threading
from collections.abc import AsyncIterator, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from selfplay.web.match import Match
from tests.web.concurrent_matches import Json, answer, client_of, play


class Gate:
    """A point at which a thread waits until the test opens it."""

    def __init__(self) -> None:
        self.reached, self.opened = threading.Event(), threading.Event()

    def pass_through(self) -> None:
        self.reached.set()
        assert self.opened.wait(60)

    async def until_reached(self, request: "asyncio.Task[Json]") -> None:
        while not self.reached.is_set() and not request.done():
            await asyncio.sleep(0.01)
        assert self.reached.is_set()


@pytest.fixture
def gate() -> Iterator[Gate]:
    made = Gate()
    yield made
    made.opened.set()


async def begin(client: httpx2.AsyncClient, opponent: str, game: str = "tictactoe") -> Json:
    return await answer(client.post("/api/matches", json={"game": game, "opponent": opponent}))


async def play_another(client: httpx2.AsyncClient, opponent: str) -> None:
    ended = await play(client, asyncio.Semaphore(1), await begin(client, opponent), 1)
    assert ended["is_over"]


@asynccontextmanager
async def asked(gate: Gate, request: Any) -> AsyncIterator["asyncio.Task[Json]"]:
    """Within the context the request waits at the gate; afterwards it is answered."""
    waiting = asyncio.create_task(request)
    try:
        await gate.until_reached(waiting)
        yield waiting
        assert not waiting.done()
    finally:
        gate.opened.set()
        await asyncio.wait([waiting])


# ---------------------------------------------------------------------- other matches are not blocked


def test_a_search_does_not_block_other_matches(app: FastAPI, gate: Gate, monkeypatch: pytest.MonkeyPatch) -> None:
    reply = Match.reply

    def slow_reply(self: Match) -> None:
        if self.opponent.offer.is_slow:
            gate.pass_through()
        reply(self)

    monkeypatch.setattr(Match, "reply", slow_reply)

    async def try_it() -> None:
        async with client_of(app) as client:
            slow = await begin(client, "search-2")
            slow = await answer(client.post(f"/api/matches/{slow['id']}/actions", json={"action": 0, "ply": 0}))
            async with asked(gate, answer(client.post(f"/api/matches/{slow['id']}/reply"))) as waiting:
                # A request on the same match waits for the answer to the earlier one; those on others are answered.
                undo = asyncio.create_task(answer(client.post(f"/api/matches/{slow['id']}/undo")))
                await play_another(client, "level-1")
                assert not undo.done()
            assert len(waiting.result()["plies"]) == 2
            assert (await undo)["plies"] == []

    asyncio.run(try_it())
