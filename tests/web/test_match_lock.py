"""Slow work does not block other matches, and the requests on one match wait for each other."""

import asyncio
import threading
from collections.abc import AsyncIterator, Callable, Iterator
from contextlib import asynccontextmanager
from typing import Any

import httpx2
import pytest
from fastapi import FastAPI

from selfplay.games import Game
from selfplay.players import perfect
from selfplay.players.experience import ExperiencePlayer
from selfplay.web.errors import BusyError
from selfplay.web.match import Match
from selfplay.web.match_lock import MatchLock
from selfplay.web.match_service import MatchService
from selfplay.web.schemas import OpponentView
from selfplay.web.workers import SLOW_WORKERS
from tests.web.concurrent_matches import Json, answer, client_of, play

SLOW = OpponentView(id="search-9", kind="search", label="Search", about="", is_slow=True)


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
        if self.participants.opponent.view.is_slow:
            gate.pass_through()
        reply(self)

    monkeypatch.setattr(Match, "reply", slow_reply)
    monkeypatch.setattr("selfplay.web.match_lock.LOCK_TIMEOUT", 0.01)

    async def try_it() -> None:
        async with client_of(app) as client:
            slow = await begin(client, "search-2")
            slow = await answer(client.post(f"/api/matches/{slow['id']}/actions", json={"action": 0, "ply": 0}))
            async with asked(gate, answer(client.post(f"/api/matches/{slow['id']}/reply"))) as waiting:
                await play_another(client, "level-1")
                # The same match answers that it is busy, instead of waiting.
                busy = await client.post(f"/api/matches/{slow['id']}/undo")
                assert (busy.status_code, "still working" in busy.json()["error"]) == (409, True)
            assert len(waiting.result()["plies"]) == 2

    asyncio.run(try_it())


def test_searches_in_all_their_threads_do_not_block_the_rest(app: FastAPI, service: MatchService, gate: Gate) -> None:
    async def try_it() -> None:
        searches = [service.workers.run_for(SLOW, gate.pass_through) for _ in range(10 * SLOW_WORKERS)]
        async with client_of(app) as client:
            # The first match against an opponent loads its player.
            for opponent in ("random", "level-1", "memory-experience"):
                await asyncio.wait_for(begin(client, opponent), 30)
            for what in ("opponents", "story", "proof?opponent=level-1"):
                answered = await asyncio.wait_for(client.get(f"/api/games/tictactoe/{what}"), 30)
                assert answered.status_code == 200
            assert not any(search.done() for search in searches)
        gate.opened.set()
        await asyncio.gather(*searches)

    asyncio.run(try_it())


@pytest.mark.parametrize(("what", "found"), [("perfect", "values"), ("hint", "action")])
def test_solving_a_game_does_not_block_other_requests(
    app: FastAPI, gate: Gate, monkeypatch: pytest.MonkeyPatch, what: str, found: str
) -> None:
    def slowly_solved(game: Game) -> perfect.PerfectPlayer | None:
        if game.name == "sumto100":
            gate.pass_through()
        return perfect.perfect_player_of(game)

    def is_found_out(game: Game) -> bool:
        return game.name != "sumto100" or gate.opened.is_set()

    monkeypatch.setattr("selfplay.web.opponents.perfect_player_of", slowly_solved)
    monkeypatch.setattr("selfplay.web.opponents.is_found_out", is_found_out)

    async def try_it() -> None:
        async with client_of(app) as client:
            match = await begin(client, "random", "sumto100")
            async with asked(gate, answer(client.get(f"/api/matches/{match['id']}/{what}"))) as waiting:
                await play_another(client, "level-1")
                # Its own match can be played too.
                act = client.post(f"/api/matches/{match['id']}/actions", json={"action": 0, "ply": 0})
                assert len((await answer(act))["plies"]) == 1
                await answer(client.post(f"/api/matches/{match['id']}/undo"))
            assert waiting.result()[found] is not None

    asyncio.run(try_it())


def test_a_learning_player_does_not_block_other_matches(
    app: FastAPI, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    learn = ExperiencePlayer.after_match

    def slowly_learn(self: ExperiencePlayer, *arguments: Any) -> None:
        gate.pass_through()
        learn(self, *arguments)

    monkeypatch.setattr(ExperiencePlayer, "after_match", slowly_learn)

    async def try_it() -> None:
        async with client_of(app) as client:
            match = await begin(client, "memory-experience")
            async with asked(gate, play(client, asyncio.Semaphore(1), match, 1)) as learning:
                for opponent in ("level-1", "search-1"):
                    await play_another(client, opponent)
            assert "from 1 match;" in learning.result()["standing"]

    asyncio.run(try_it())


# ---------------------------------------------------------------------- one match


def test_a_request_that_waits_for_the_lock_occupies_no_thread(
    app: FastAPI, service: MatchService, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("selfplay.web.match_lock.LOCK_TIMEOUT", 60)

    async def try_it() -> None:
        async with client_of(app) as client:
            match = await begin(client, "level-1")
            work: asyncio.Future[None] = asyncio.get_running_loop().create_future()
            earlier = asyncio.create_task(service.matches.get(match["id"]).lock.hold(lambda: work))
            await asyncio.sleep(0)
            later = asyncio.create_task(answer(client.get(f"/api/matches/{match['id']}")))
            await play_another(client, "level-1")
            assert not later.done()
            work.set_result(None)
            await earlier
            assert await later == match

    asyncio.run(try_it())


def test_an_opponent_taking_over_during_a_reply_waits_for_it_and_uses_its_own_threads(
    app: FastAPI, gate: Gate, monkeypatch: pytest.MonkeyPatch
) -> None:
    threads: list[str] = []
    reply, view, taken = Match.reply, Match.view, MatchLock.hold
    waiting_for_turns: list[MatchLock] = []

    def slow_reply(self: Match) -> None:
        gate.pass_through()
        reply(self)

    def noted_view(self: Match) -> Any:
        threads.append(threading.current_thread().name)
        return view(self)

    async def counted(self: MatchLock, start: Callable[[], Any]) -> Any:
        waiting_for_turns.append(self)
        return await taken(self, start)

    async def until_waiting(number: int) -> None:
        while len(waiting_for_turns) < number:
            await asyncio.sleep(0.01)

    monkeypatch.setattr("selfplay.web.match_lock.LOCK_TIMEOUT", 60)

    async def try_it() -> None:
        async with client_of(app) as client:
            match = await begin(client, "search-2")
            address = f"/api/matches/{match['id']}"
            await answer(client.post(f"{address}/actions", json={"action": 0, "ply": 0}))
            monkeypatch.setattr(Match, "reply", slow_reply)
            monkeypatch.setattr(Match, "view", noted_view)
            monkeypatch.setattr(MatchLock, "hold", counted)
            async with asked(gate, answer(client.post(f"{address}/reply"))) as replied:
                body = {"opponent": "level-1"}
                taken_over = asyncio.create_task(answer(client.put(f"{address}/opponent", json=body)))
                await until_waiting(2)
                looked = asyncio.create_task(answer(client.get(address)))
                await until_waiting(3)
            assert (replied.result()["opponent"]["id"], len(replied.result()["plies"])) == ("search-2", 2)
            assert ((await taken_over)["opponent"]["id"], (await looked)) == ("level-1", await taken_over)
            assert [name.partition("_")[0] for name in threads] == ["slow", "quick", "quick"]

    asyncio.run(try_it())


def test_the_lock_is_held_until_the_thread_is_done(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("selfplay.web.match_lock.LOCK_TIMEOUT", 0.0)

    async def try_it() -> None:
        turn, work = MatchLock(), asyncio.get_running_loop().create_future()
        first = asyncio.create_task(turn.hold(lambda: work))
        await asyncio.sleep(0)
        first.cancel()
        with pytest.raises(asyncio.CancelledError):
            await first
        # No request waits for the thread any longer, but it still holds the match.
        with pytest.raises(BusyError):
            await turn.hold(lambda: pytest.fail("two at once"))
        work.set_result(1)
        await asyncio.sleep(0)
        monkeypatch.setattr("selfplay.web.match_lock.LOCK_TIMEOUT", 60)
        assert await turn.hold(lambda: work) == 1

    asyncio.run(try_it())
