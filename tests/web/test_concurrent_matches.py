"""Many requests at once are answered as one at a time, by any server."""

import asyncio
from pathlib import Path

import httpx2
import pytest
from fastapi import FastAPI

from selfplay.web.app import create_app
from selfplay.web.match_service import MatchService
from tests.web.conftest import ADDRESS, client_of, web_settings
from tests.web.match_requests import Json, described, play_out, shown

OPPONENTS = ["level-1", "level-3", "random", "perfect", "search-2"]
AT_A_TIME = 20


@pytest.mark.slow
def test_many_concurrent_requests_are_answered_as_one_at_a_time(app: FastAPI, run_dir: Path) -> None:
    alone = client_of(create_app(MatchService(web_settings(run_dir, client_searches=AT_A_TIME))))
    matches: list[Json] = []
    for number in range(10):
        person = "first" if number % 2 else "second"
        match, view = play_out(alone, described(opponent=OPPONENTS[number % 5], person=person, seed=number), number % 3)
        texts = [ply["text"] for ply in view["plies"]]
        matches += [match | {"moves": " ".join(texts[:count])} for count in range(len(texts) + 1)]

    async def ask_all() -> list[Json]:
        limit = asyncio.Semaphore(AT_A_TIME)
        async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app), base_url=ADDRESS) as client:

            async def ask(match: Json) -> Json:
                async with limit:
                    response = await client.post("/api/match", json=match | {"advance": True})
                view: Json = response.json()["match"]
                return view

            return await asyncio.gather(*map(ask, matches))

    assert asyncio.run(ask_all()) == [shown(alone, match) for match in matches]
