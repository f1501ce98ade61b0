"""Many matches at once: none is lost or mixed up, and a slow one keeps nobody waiting."""

import asyncio
import random
import threading
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from selfplay.web.app import create_app
from selfplay.web.desk import Desk
from selfplay.web.errors import BusyError
from selfplay.web.match import Match
from tests.web.conftest import ADDRESS

MATCHES = 200
AT_A_TIME = 20

Json = dict[str, Any]


@pytest.fixture
def app(desk: Desk) -> FastAPI:
    return create_app(desk)


def client_of(app: FastAPI) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=ADDRESS)


async def answer(request: Any) -> Json:
    response = await request
    assert response.status_code < 300, response.text
    found: Json = response.json()
    return found


async def play(client: httpx2.AsyncClient, limit: asyncio.Semaphore, match: Json, number: int) -> Json:
    """A match to its end; the person's actions depend on its number alone."""
    chance = random.Random(number)
    address = f"/api/matches/{match['id']}"
    while not match["is_over"]:
        async with limit:
            if match["awaits_person"]:
                body = {"action": chance.choice(match["legal"])["action"], "ply": len(match["plies"])}
                match = await answer(client.post(f"{address}/actions", json=body))
            else:
                match = await answer(client.post(f"{address}/reply"))
            if chance.random() < 0.05 and match["can_undo"] and not match["is_over"]:
                match = await answer(client.post(f"{address}/undo"))
    return match


def test_two_hundred_matches_side_by_side_are_each_as_if_alone(app: FastAPI, desk: Desk) -> None:
    opponents = ["level-1", "level-3", "random", "perfect"]

    async def play_all() -> list[Json]:
        async with client_of(app) as client:
            limit = asyncio.Semaphore(AT_A_TIME)

            async def begin(number: int) -> Json:
                person = "first" if number % 2 else "second"
                body = {"game": "tictactoe", "opponent": opponents[number % 4], "person": person}
                async with limit:
                    return await answer(client.post("/api/matches", json=body))

            # All are open before the first one ends.
            begun = await asyncio.gather(*map(begin, range(MATCHES)))
            assert len(desk.matches) == MATCHES
            return await asyncio.gather(*(play(client, limit, match, n) for n, match in enumerate(begun)))

    ended = asyncio.run(play_all())
    assert len({match["id"] for match in ended}) == MATCHES
    for there in ended:
        # Once more without a server: the person's actions alone, one after the other.
        game = desk.roster.game("tictactoe")
        opponent = desk.roster.opponent(game, there["opponent"]["id"])
        person = "first" if there["person_seat"] == 0 else "second"
        alone = Match(there["id"], game, opponent.view, desk.roster.player(game, opponent), 0, person)
        for ply in there["plies"]:
            if ply["by_person"]:
                alone.reply()
                alone.play(ply["action"], len(alone.session.plies))
        alone.reply()
        assert alone.view().model_dump() == there
        assert desk.matches.get(there["id"]).view().model_dump() == there


def test_a_search_that_thinks_keeps_no_other_match_waiting(
    app: FastAPI, desk: Desk, monkeypatch: pytest.MonkeyPatch
) -> None:
    thinking, go_on = threading.Event(), threading.Event()
    reply = Match.reply

    def slow_reply(self: Match) -> None:
        if self.opponent.is_slow:
            thinking.set()
            assert go_on.wait(60)
        reply(self)

    monkeypatch.setattr(Match, "reply", slow_reply)
    monkeypatch.setattr("selfplay.web.match.PATIENCE", 0.01)

    async def try_it() -> None:
        async with client_of(app) as client:

            async def begin(opponent: str) -> Json:
                return await answer(client.post("/api/matches", json={"game": "tictactoe", "opponent": opponent}))

            slow, quick = await begin("search-2"), await begin("level-1")
            slow = await answer(client.post(f"/api/matches/{slow['id']}/actions", json={"action": 0, "ply": 0}))
            waiting = asyncio.create_task(answer(client.post(f"/api/matches/{slow['id']}/reply")))
            while not thinking.is_set() and not waiting.done():
                await asyncio.sleep(0.01)
            ended = await play(client, asyncio.Semaphore(1), quick, 1)
            assert ended["is_over"]
            # The same match answers that it is busy, instead of waiting.
            busy = await client.post(f"/api/matches/{slow['id']}/undo")
            assert (busy.status_code, "still at work" in busy.json()["error"]) == (409, True)
            assert not waiting.done()
            go_on.set()
            assert len((await waiting)["plies"]) == 2

    try:
        asyncio.run(try_it())
    finally:
        go_on.set()


def test_a_match_is_held_by_one_at_a_time(desk: Desk, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selfplay.web.match.PATIENCE", 0.0)
    game = desk.roster.game("tictactoe")
    opponent = desk.roster.opponent(game, "random")
    match = Match("one", game, opponent.view, desk.roster.player(game, opponent), 0, "first")
    with match.held(), pytest.raises(BusyError), match.held():
        pass
    with match.held() as held:
        assert held is match
