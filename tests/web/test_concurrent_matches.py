"""Many matches at once: none is lost or mixed up with another."""

import asyncio

import pytest
from fastapi import FastAPI
from pydantic import TypeAdapter

from selfplay.web.match import Match, Participant
from selfplay.web.matches import MatchService
from selfplay.web.offers import judge_offer
from selfplay.web.schemas import MatchView, People
from tests.web.concurrent_matches import Json, answer, client_of, play

MATCHES = 60
AT_A_TIME = 20
VIEWS = TypeAdapter(MatchView)


@pytest.mark.slow
def test_many_concurrent_matches_are_the_same_as_one_at_a_time(app: FastAPI, service: MatchService) -> None:
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
            assert len(service.matches) == MATCHES
            return await asyncio.gather(*(play(client, limit, match, n) for n, match in enumerate(begun)))

    ended = asyncio.run(play_all())
    assert len({match["id"] for match in ended}) == MATCHES
    for there in ended:
        # The same matches again without a server, one after another.
        game = service.catalog.game("tictactoe")
        opponent = service.catalog.opponent(game, there["opponent"]["id"])
        people = People(there["people"])
        participant = Participant(opponent, service.catalog.player(game, opponent))
        alone = Match(there["id"], game, people, participant, None, None, judge_offer(game), 0)
        for ply in there["plies"]:
            if ply["by_person"]:
                alone.reply()
                alone.play(ply["action"], len(alone.session.plies))
        alone.reply()
        assert VIEWS.dump_python(alone.view()) == there
        assert VIEWS.dump_python(service.matches.get(there["id"]).view()) == there
