"""The requests about matches. Any process can answer any of them: only players and values are kept, and no matches."""

import asyncio
from collections import OrderedDict, defaultdict
from collections.abc import Callable, Hashable
from contextlib import AsyncExitStack, ExitStack
from functools import cache, partial
from pathlib import Path
from threading import Lock
from typing import Any

from fastapi import APIRouter, Request

from selfplay.compute.compilation import in_plain_python
from selfplay.errors import NotNowError, SettingError
from selfplay.games import Game
from selfplay.players.perfect import is_found_out, perfect_player_of
from selfplay.players.player import Player
from selfplay.players.stand_in import StandIn
from selfplay.search.deadline import Deadline
from selfplay.search.shared_solver import Solving
from selfplay.settings.playing import WebSettings
from selfplay.web.game_schemas import OfferedPlayer
from selfplay.web.loaded_players import LoadedPlayers, file_version
from selfplay.web.match_schemas import MatchAnswer, MatchRequest, Part, People, ServedMatch
from selfplay.web.offers import judge_offer
from selfplay.web.opponents import OpponentCatalog
from selfplay.web.participants import Participant, Participants
from selfplay.web.proof import OpponentProofs
from selfplay.web.recent_estimates import RecentEstimates
from selfplay.web.requested_match import RequestedMatch
from selfplay.web.waiting_clients import Answer, FairThreads, RequestLimit, SharedWork, client_of, while_waiting

QUICK_THREADS = 4
"""Few threads, because they compete for the interpreter's lock; a client has one of them."""
SLOW_THREADS = 6
"""Threads for searches, and for players that learn, whose store may be locked. Other requests do not wait for them."""
MOST_WAITING = 20
"""Number of slow requests of a client that wait; later ones are refused for some seconds."""
LOADING_THREADS, READING_THREADS, PROVING_THREADS = 4, 4, 2
"""Threads that load and compile players, read runs, and prove whether opponents can lose."""
LONG_SECONDS = 0.5
"""What takes longer is compiled rather than read from disk."""
JUDGED: tuple[Part, ...] = ("judged", "hint")
"""The parts of an answer that the judge gives."""
MOST_LEARNED = 10_000
"""Number of matches of which it is remembered that a player has learned from them."""


class MatchService:
    """The opponents and proofs of a server, and its answers about matches.

    Args:
        judge: who values the moves of a game with a run where it is not solved, and gives hints.
    """

    def __init__(self, settings: WebSettings, judge: Callable[[Game, Path], OfferedPlayer] = judge_offer) -> None:
        self.settings, self._judge = settings, judge
        self.catalog = OpponentCatalog(settings)
        self.players = LoadedPlayers()
        self.proofs = OpponentProofs(self.catalog, self.players)
        self.recent = RecentEstimates()
        self.quick = FairThreads(QUICK_THREADS, 1)
        self.slow = FairThreads(SLOW_THREADS, settings.client_searches)
        of_client = settings.client_searches
        self.loading, self.reading = SharedWork(LOADING_THREADS, of_client), SharedWork(READING_THREADS, of_client)
        self.proving = SharedWork(PROVING_THREADS, of_client)
        self.slow_requests = RequestLimit(settings.client_searches + MOST_WAITING, f"{MOST_WAITING} slow requests")
        self._turns: defaultdict[object, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._learning: defaultdict[object, Lock] = defaultdict(Lock)
        self._learned: OrderedDict[object, None] = OrderedDict()
        self._opened: dict[str, None] = {}

    @property
    def opened(self) -> tuple[str, ...]:
        """The names of the listed games that visitors have opened, the latest first. May be read in any thread."""
        return tuple(self._opened)[::-1]

    @property
    def is_compiling_long(self) -> bool:
        """Whether visitors are waiting for players or rules that take long to load, usually because they are compiled.
        May be read in any thread."""
        return max(self.loading.longest, self.reading.longest) > LONG_SECONDS

    def chosen(self, game: Game, request: MatchRequest) -> Participants:
        """Who takes part in a request, without their players. For some games the first call can take seconds.

        Raises NotFoundError if there is no such opponent, and SettingError if one has a stand-in and is asked, too.
        """
        if request.stand_in and (request.learn or request.valued is not None):
            raise SettingError("with stand_in the players are not asked: leave out learn and valued")

        def participant(opponent_id: str | None) -> Participant | None:
            if opponent_id is None:
                return None
            offer = self.catalog.opponent(game, opponent_id)
            if request.stand_in:
                return Participant(offer, StandIn(game))
            # Learners report what they have learned.
            return Participant(offer, is_asked=request.asks_players or offer.learns)

        has_partner = request.person is People.NONE and request.partner != request.opponent
        partner = request.partner if has_partner else None
        opponent, other, adviser = map(participant, (request.opponent, partner, request.adviser))
        assert opponent is not None
        return Participants(opponent, other, adviser, Participant(self._judge(game, self.catalog.run(game).path)))

    def lent(self, game: Game, chosen: Participants, lent: ExitStack) -> Participants:
        """Those who take part, with the players that are asked, until `lent` is closed. Raises as
        `LoadedPlayers.lent`."""

        def participant(one: Participant | None) -> Participant | None:
            if one is None or not one.is_asked:
                return one
            player = lent.enter_context(self.players.lent(game, one.offer))
            return one._replace(player=player, version=file_version(one.offer))

        @cache
        def judge() -> Participant:
            found = participant(chosen.judge._replace(is_asked=True))
            assert found is not None
            return found

        opponent, partner, adviser = map(participant, chosen[:3])
        assert opponent is not None
        return Participants(opponent, partner, adviser, chosen.judge, judge)

    def participants(self, game: Game, request: MatchRequest, lent: ExitStack) -> Participants:
        """The players of a request, until `lent` is closed. Raises as `chosen` and `LoadedPlayers.lent`."""
        return self.lent(game, self.chosen(game, request), lent)

    def match(
        self, request: MatchRequest, game: Game, participants: Participants, *, counts: bool = False
    ) -> RequestedMatch:
        """The match of a request. Raises as `RequestedMatch`."""
        return RequestedMatch(request, game, participants, self.settings.seed, self.recent, counts=counts)

    def played(
        self, request: MatchRequest, game: Game, participants: Participants
    ) -> tuple[RequestedMatch, ServedMatch | None]:
        """The match of a request, with the plies and values that it asks for, and its view. Raises as `match`."""
        match = self.match(request, game, participants)
        if request.learn:
            self._learn(match, request, participants)
        if request.advance:
            match.advance()
        if request.valued is not None:
            match.value_plies(request.valued)
        return match, match.view() if "view" in request.show else None

    def _learn(self, match: RequestedMatch, request: MatchRequest, participants: Participants) -> None:
        """Let players learn from the match, unless they have done so. Raises NotNowError if it is not over."""
        session = match.session
        if not session.is_over or session.is_practice:
            raise NotNowError("players learn from matches that are over and no practice")
        key = (
            request.game,
            request.opponent,
            request.partner,
            request.person,
            request.seed,
            *session.match.actions,
        )
        with self._learning[request.game, request.opponent]:
            if key not in self._learned:
                self.match(request, match.game, participants, counts=True)
                self._learned[key] = None
                if len(self._learned) > MOST_LEARNED:
                    self._learned.popitem(last=False)

    async def game(self, name: str, request: Request) -> Game:
        """The game with this name, which a visitor has opened. Raises as `OpponentCatalog.game`."""
        if name in self.catalog.games:
            self._opened.pop(name, None)
            self._opened[name] = None
            return self.catalog.games[name]
        return await self.reading.result(("game", name), partial(self.catalog.game, name), request)

    async def answer(self, body: MatchRequest, request: Request) -> MatchAnswer:
        """What `body` asks for, as far as it is found in `search_seconds`.

        Raises:
            BusyError: too many requests of this client are waiting.
            NotFoundError: there is no such game, opponent or ply.
            ClientLeftError: the client has left.
            SelfPlayError: others, as of `participants` and `played`.
        """
        async with while_waiting(request) as deadline, AsyncExitStack() as held:
            game, client = await self.game(body.game, request), client_of(request.scope)
            if not (is_known := is_found_out(game)):
                held.enter_context(self.slow_requests.counted(client))
                await self.reading.result(("perfect", game.name), partial(perfect_player_of, game), request)
            perfect = perfect_player_of(game)
            chosen, missing = await self.quick.run(partial(self._missing, game, body, perfect), request, deadline)
            is_slow = chosen.are_slow(body.person, perfect) or _searches(body, perfect)
            if is_known and (is_slow or any(offer.is_slow for offer, _ in missing)):
                held.enter_context(self.slow_requests.counted(client))
            for offer, key in missing:
                # Other players are only read, which takes milliseconds.
                work = self.loading if offer.is_slow or offer.learns else self.reading
                # Searches of one game share most of their compiled code, which is compiled for the first of them.
                group = None if offer.is_kept else game.name
                await work.result(key, partial(self.players.load, game, offer), request, group=group)
            for opponent_id in chosen.in_turn:
                await held.enter_async_context(self._turns[game.name, opponent_id])
            threads = self.slow if is_slow else self.quick

            async def run(work: Callable[[], Answer]) -> Answer:
                return await threads.run(work, request, deadline)

            deadline.allow(self.settings.search_seconds)
            match, found, solving = await run(partial(self._begun, body, game, chosen))
            if solving is not None:
                await _until_solved(solving, body, deadline, has_values=perfect is not None)
                found |= await run(partial(self._judged, body, game, chosen, match))
            late = [part for part in JUDGED if part in body.show and found[part] is None]
            return MatchAnswer(**found, late=late)

    def _missing(
        self, game: Game, body: MatchRequest, perfect: Player | None
    ) -> tuple[Participants, list[tuple[OfferedPlayer, Hashable]]]:
        """Who takes part in a request, and those who have to be loaded first, with their keys."""
        chosen = self.chosen(game, body)
        asked = [one.offer for one in chosen.asked]
        advises = body.valued is not None and chosen.judge in chosen.advisers(body.person, perfect)
        if advises or "hint" in body.show or ("judged" in body.show and perfect is None):
            asked.append(chosen.judge.offer)
        missing = [offer for offer in asked if not self.players.is_loaded(game, offer)]
        return chosen, [(offer, self.players.key(game, offer)) for offer in missing]

    def _begun(
        self, body: MatchRequest, game: Game, chosen: Participants
    ) -> tuple[RequestedMatch, dict[str, Any], Solving | None]:
        """The match of a request, the parts of the answer, and the position as it is being solved; then without the
        parts of the judge, which can wait for it."""
        with ExitStack() as lent:
            if body.stand_in:
                lent.enter_context(in_plain_python())
            match, view = self.played(body, game, self.lent(game, chosen, lent))
            solving = match.judging.solving(match.shown) if {*JUDGED} & {*body.show} else None
            judged = _judged(body, match) if solving is None else {}
            return match, judged | _unjudged(body, match, view), solving

    def _judged(self, body: MatchRequest, game: Game, chosen: Participants, match: RequestedMatch) -> dict[str, Any]:
        """The parts of the judge, whose player is lent meanwhile."""
        with ExitStack() as lent:
            match.lend(self.lent(game, chosen.only_judge, lent))
            return _judged(body, match)


def _searches(body: MatchRequest, perfect: Player | None) -> bool:
    """Whether the answer may need a search, whoever plays."""
    # A search for the hint may be needed if the solver is not done in time.
    return bool({"hint", "dead", "territory"} & {*body.show}) or ("judged" in body.show and perfect is None)


def _judged(body: MatchRequest, match: RequestedMatch) -> dict[str, Any]:
    return {
        "judged": match.judging.judged(match.shown) if "judged" in body.show else None,
        "hint": match.judging.hint(match.shown) if "hint" in body.show else None,
    }


def _unjudged(body: MatchRequest, match: RequestedMatch, view: ServedMatch | None) -> dict[str, Any]:
    return {
        "match": view,
        "record": match.record() if "record" in body.show else None,
        "file": match.file() if "file" in body.show else None,
        "dead": match.dead() if "dead" in body.show else None,
        "territory": match.territory() if "territory" in body.show else None,
    }


async def _until_solved(solving: Solving, body: MatchRequest, deadline: Deadline, *, has_values: bool) -> None:
    """Wait for the solver, for as long as the request allows. No thread waits for it.

    `has_values`: whether the values of the answer are those of the solver.
    """
    # Half of the time is for a search instead.
    half = deadline.part(1 / 2) or 0.0
    wanted = half if "hint" in body.show or not has_values else min(body.seconds, deadline.left)
    await asyncio.wait([asyncio.wrap_future(solving.finished)], timeout=wanted)


def match_routes(service: MatchService) -> APIRouter:
    """The request about a match."""
    router = APIRouter(prefix="/api/match", tags=["matches"])

    @router.post("", summary="Play and show a match", operation_id="match")
    async def match(body: MatchRequest, request: Request) -> MatchAnswer:
        """All requests about matches are one: a new match has no moves, and an action is added to them."""
        return await service.answer(body, request)

    return router
