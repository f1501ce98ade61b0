"""The requests about matches. Any process can answer any of them: only players and values are kept, and no matches."""

import asyncio
from collections import OrderedDict, defaultdict
from collections.abc import Awaitable, Callable
from contextlib import AsyncExitStack, ExitStack
from functools import partial
from threading import Lock

from anyio.to_thread import run_sync
from fastapi import APIRouter, Request

from selfplay.errors import NotNowError
from selfplay.games import Game
from selfplay.players.perfect import is_found_out, perfect_player_of
from selfplay.search.deadline import Deadline
from selfplay.settings.playing import WebSettings
from selfplay.web.loaded_players import LoadedPlayers, file_version
from selfplay.web.match import Match
from selfplay.web.offers import judge_offer
from selfplay.web.opponents import OpponentCatalog
from selfplay.web.participants import Participant, Participants
from selfplay.web.proof import Proofs
from selfplay.web.recent_estimates import RecentEstimates
from selfplay.web.schemas import MatchAnswer, MatchRequest, OfferedPlayer, Part, People, ServedMatch
from selfplay.web.waiting_clients import Answer, FairThreads, while_waiting

QUICK_THREADS = 1
"""One thread, because several threads would compete for the interpreter's lock, and short work would take longer."""
SLOW_THREADS = 6
"""Threads for searches, and for players that learn, whose store may be locked. Other requests do not wait for them."""
MOST_WAITING = 20
"""Number of slow requests of a client that wait; later ones are refused for some seconds."""
MOST_LEARNED = 10_000
"""Number of matches of which it is remembered that a player has learned from them."""


class MatchService:
    """The opponents and proofs of a server, and its answers about matches.

    Args:
        judge: who values the moves of a game where it is not solved, and gives hints.
    """

    def __init__(self, settings: WebSettings, judge: Callable[[Game], OfferedPlayer] = judge_offer) -> None:
        self.settings, self._judge = settings, judge
        self.catalog = OpponentCatalog(settings)
        self.players = LoadedPlayers()
        self.proofs = Proofs(self.catalog, self.players)
        self.recent = RecentEstimates()
        self.quick = FairThreads(QUICK_THREADS, 1)
        self.slow = FairThreads(SLOW_THREADS, settings.client_searches, MOST_WAITING)
        self._turns: defaultdict[object, asyncio.Lock] = defaultdict(asyncio.Lock)
        self._learning: defaultdict[object, Lock] = defaultdict(Lock)
        self._learned: OrderedDict[object, None] = OrderedDict()

    def participants(self, game: Game, request: MatchRequest, lent: ExitStack) -> Participants:
        """The players of a request, until `lent` is closed. Raises as `LoadedPlayers.lent`.

        Those of which it asks nothing are not loaded, except learners, which report what they have learned.
        """

        def participant(offer: OfferedPlayer) -> Participant:
            return Participant(offer, lent.enter_context(self.players.lent(game, offer)), file_version(offer))

        def chosen(opponent_id: str | None) -> Participant | None:
            if opponent_id is None:
                return None
            offer = self.catalog.opponent(game, opponent_id)
            return participant(offer) if request.asks_players or offer.learns else Participant(offer, None)

        has_partner = request.person is People.NONE and request.partner != request.opponent
        partner = request.partner if has_partner else None
        opponent, other, adviser = map(chosen, (request.opponent, partner, request.adviser))
        assert opponent is not None
        judge = self._judge(game)
        return Participants(opponent, other, adviser, Participant(judge, None), partial(participant, judge))

    def match(self, request: MatchRequest, game: Game, participants: Participants, *, counts: bool = False) -> Match:
        """The match of a request. Raises as `Match`."""
        return Match(request, game, participants, self.settings.seed, self.recent, counts=counts)

    def played(self, request: MatchRequest, game: Game, participants: Participants) -> tuple[Match, ServedMatch | None]:
        """The match of a request, with the plies and values that it asks for, and its view. Raises as `Match`."""
        match = self.match(request, game, participants)
        if request.learn:
            self._learn(match, request, participants)
        if request.advance:
            match.advance()
        if request.valued is not None:
            match.value_plies(request.valued)
        return match, match.view() if "view" in request.show else None

    def _learn(self, match: Match, request: MatchRequest, participants: Participants) -> None:
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
            *(ply.action for ply in session.plies),
        )
        with self._learning[request.game, request.opponent]:
            if key not in self._learned:
                self.match(request, match.game, participants, counts=True)
                self._learned[key] = None
                if len(self._learned) > MOST_LEARNED:
                    self._learned.popitem(last=False)

    async def answer(self, body: MatchRequest, request: Request) -> MatchAnswer:
        """What `body` asks for, as far as it is found in `search_seconds`.

        Raises:
            BusyError: too many requests of this client are waiting.
            NotFoundError: there is no such game, opponent or ply.
            ClientLeftError: the client has left.
            SelfPlayError: others, as of `participants` and `played`.
        """
        game = self.catalog.game(body.game)
        # In threads, because a player may have to be compiled, and the game to be enumerated.
        with ExitStack() as lent:
            participants = await run_sync(self.participants, game, body, lent)
            return await self._answer_by(participants, body, request, game)

    async def _answer_by(
        self, participants: Participants, body: MatchRequest, request: Request, game: Game
    ) -> MatchAnswer:
        perfect = perfect_player_of(game) if is_found_out(game) else await run_sync(perfect_player_of, game)
        is_judged, is_hinted = "judged" in body.show, "hint" in body.show
        # A search for the hint may be needed if the solver is not done in time.
        searches = is_hinted or "dead" in body.show or (is_judged and perfect is None)
        is_slow = participants.are_slow(body.person, perfect) or searches
        answer = partial(self._answer, body, request, game, participants)
        if not is_slow:
            return await answer(self.quick, Deadline())
        async with while_waiting(request) as deadline, AsyncExitStack() as turns:
            for opponent_id in participants.kept:
                await turns.enter_async_context(self._turns[game.name, opponent_id])
            return await answer(self.slow, deadline)

    async def _answer(
        self,
        body: MatchRequest,
        request: Request,
        game: Game,
        participants: Participants,
        threads: FairThreads,
        deadline: Deadline,
    ) -> MatchAnswer:
        is_judged, is_hinted = "judged" in body.show, "hint" in body.show

        def run(work: Callable[[], Answer]) -> Awaitable[Answer]:
            return threads.run(work, request, deadline)

        deadline.allow(self.settings.search_seconds)
        match, view = await run(partial(self.played, body, game, participants))
        if is_judged or is_hinted:
            # No thread waits for the solver.
            solving = await run(match.solving)
            if solving is not None:
                # Half of the time is for a search instead.
                half, has_values = deadline.part(1 / 2) or 0.0, perfect_player_of(game) is not None
                wanted = half if is_hinted else min(body.seconds, deadline.left if has_values else half)
                await asyncio.wait([asyncio.wrap_future(solving.finished)], timeout=wanted)
        judged = await run(match.judged) if is_judged else None
        hint = await run(match.hint) if is_hinted else None
        asked: list[tuple[Part, object]] = [("judged", judged), ("hint", hint)]
        return MatchAnswer(
            match=view,
            record=await run(match.record) if "record" in body.show else None,
            judged=judged,
            hint=hint,
            file=await run(match.file) if "file" in body.show else None,
            dead=await run(match.dead) if "dead" in body.show else None,
            late=[part for part, found in asked if part in body.show and found is None],
        )


def match_routes(service: MatchService) -> APIRouter:
    """The request about a match."""
    router = APIRouter(prefix="/api/match", tags=["matches"])

    @router.post("", summary="Play and show a match", operation_id="match")
    async def match(body: MatchRequest, request: Request) -> MatchAnswer:
        """All requests about matches are one: a new match has no moves, and an action is added to them."""
        return await service.answer(body, request)

    return router
