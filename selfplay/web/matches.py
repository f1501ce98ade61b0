"""The requests about matches, one at a time for each match, and the matches that are open."""

import asyncio
import math
import secrets
import time
from collections import OrderedDict
from collections.abc import Callable, Iterable
from typing import Annotated, NamedTuple, TypeVar

from anyio import CapacityLimiter
from anyio.to_thread import run_sync
from fastapi import APIRouter, Path, Query, Request

from selfplay.errors import SelfPlayError
from selfplay.games import Game
from selfplay.players.perfect import is_found_out, perfect_player_of
from selfplay.settings.playing import WebSettings
from selfplay.web.match import Match, Participant
from selfplay.web.offers import judge_offer
from selfplay.web.opponents import NotFoundError, OpponentCatalog
from selfplay.web.proof import Proofs
from selfplay.web.schemas import (
    ActionRequest,
    HintView,
    JudgedView,
    MatchFileView,
    MatchView,
    NewMatchRequest,
    NextMatchRequest,
    OfferedPlayer,
    People,
    RewindRequest,
    TakeOverRequest,
)

MatchId = Annotated[str, Path(min_length=1, max_length=64)]
WaitSeconds = Annotated[
    float,
    Query(ge=0, le=60, description="How long to wait for values that are not known, at most `search_seconds`."),
]
PlyNumber = Annotated[int, Path(ge=0, le=1000, description="The number of plies before the position.")]
AskedPly = Annotated[
    int | None, Query(ge=0, le=1000, description="The number of plies before the position; left out: the current one.")
]


def match_routes(service: "MatchService") -> APIRouter:
    """The requests about matches."""
    router = APIRouter(prefix="/api/matches", tags=["matches"])

    def then_view(change: Callable[[Match], object]) -> Callable[[Match], MatchView]:
        def changed(match: Match) -> MatchView:
            change(match)
            return match.view()

        return changed

    @router.post("", status_code=201, summary="Begin a match", operation_id="begin")
    async def begin(body: NewMatchRequest, request: Request) -> MatchView:
        client = request.client.host if request.client else ""
        service.matches.check_room(client)
        game = service.catalog.game(body.game)
        taking = await run_sync(service.participants, game, body)
        # In a thread, because it may have to find out whether the game can be solved.
        match = await run_sync(service.new_match, game, body.person, taking)
        view = await run_sync(match.begin, body, limiter=service.limiter(match.offers))
        service.matches.add(match, client)
        return view

    @router.get("/{match}", summary="Show a match", operation_id="look")
    async def look(match: MatchId) -> MatchView:
        return await service.with_match(match, Match.view)

    @router.post("/{match}/actions", summary="Play an action for the person", operation_id="act")
    async def act(match: MatchId, request: ActionRequest) -> MatchView:
        return await service.with_match(match, then_view(lambda it: it.play(request.action, request.ply)))

    @router.post("/{match}/reply", summary="Let the opponent play until the person has to choose", operation_id="reply")
    async def reply(match: MatchId) -> MatchView:
        return await service.with_match(match, then_view(Match.reply))

    @router.get("/{match}/positions/{ply}", summary="Show an earlier position", operation_id="position")
    async def position(match: MatchId, ply: PlyNumber) -> MatchView:
        return await service.with_match(match, lambda it: it.view(ply))

    @router.post("/{match}/rewind", summary="Continue from an earlier position", operation_id="rewind")
    async def rewind(match: MatchId, request: RewindRequest) -> MatchView:
        return await service.with_match(match, then_view(lambda it: it.session.rewind(request.ply)))

    @router.get("/{match}/file", summary="Write the match as a file", operation_id="file")
    async def file(match: MatchId) -> MatchFileView:
        return await service.with_match(match, Match.file)

    @router.post("/{match}/undo", summary="Take back the last action", operation_id="undo")
    async def undo(match: MatchId) -> MatchView:
        return await service.with_match(match, then_view(lambda it: it.session.undo()))

    @router.post("/{match}/next", summary="Begin the next match against the same opponent", operation_id="next")
    async def next_match(match: MatchId, request: NextMatchRequest) -> MatchView:
        return await service.with_match(match, then_view(lambda it: it.new_match(People(request.person))))

    @router.put("/{match}/opponent", summary="Let another opponent continue", operation_id="takeOver")
    async def take_over(match: MatchId, request: TakeOverRequest) -> MatchView:
        taking = await run_sync(service.participants, service.matches.get(match).game, request)
        async with (it := service.matches.get(match)).lock:
            limiter = service.limiter(one.offer for one in taking if one is not None)
            return await run_sync(it.take_over, *taking, limiter=limiter)

    @router.get("/{match}/hint", summary="Suggest the best action that is known", operation_id="hint")
    async def hint(match: MatchId, ply: AskedPly = None) -> HintView:
        await service.solve_game(match)
        await service.wait_for_solution(match, math.inf, ply)
        return await service.with_match(match, lambda it: it.hint(ply), service.slow)

    @router.get("/{match}/judged", summary="Show the best known value of each action", operation_id="judged")
    async def judged(match: MatchId, seconds: WaitSeconds = 0.0, ply: AskedPly = None) -> JudgedView:
        is_solved = await service.solve_game(match)
        await service.wait_for_solution(match, seconds, ply)
        return await service.with_match(match, lambda it: it.judged(ply), service.quick if is_solved else service.slow)

    @router.delete("/{match}", status_code=204, summary="Close a match", operation_id="leave")
    async def leave(match: MatchId) -> None:
        service.matches.remove(match)

    return router


# ---------------------------------------------------------------------- the service

Answer = TypeVar("Answer")

QUICK_THREADS = 1
"""One thread, because several threads would compete for the interpreter's lock, and short work would take longer."""
SLOW_THREADS = 6
"""Threads for searches, and for players that learn, whose store another process may lock. Other matches do not wait."""


class MatchService:
    """The opponents, the open matches and the proofs of a server.

    Args:
        clock: a monotonic clock, in seconds.
        new_id: makes the id of the next match.
    """

    def __init__(
        self,
        settings: WebSettings,
        clock: Callable[[], float] = time.monotonic,
        new_id: Callable[[], str] = lambda: secrets.token_urlsafe(12),
    ) -> None:
        self.settings, self.new_id = settings, new_id
        self.catalog = OpponentCatalog(settings)
        self.matches = OpenMatches(settings, clock)
        self.proofs = Proofs(self.catalog)
        self.quick, self.slow = CapacityLimiter(QUICK_THREADS), CapacityLimiter(SLOW_THREADS)

    def participants(
        self, game: Game, request: NewMatchRequest | TakeOverRequest
    ) -> tuple[Participant, Participant | None, Participant | None]:
        """The opponent, and the partner and the evaluator if they are others. Raises as `OpponentCatalog.player`."""

        def participant(opponent_id: str) -> Participant:
            offer = self.catalog.opponent(game, opponent_id)
            return Participant(offer, self.catalog.player(game, offer))

        opponent = participant(request.opponent)
        ids = (None if request.partner == request.opponent else request.partner), request.evaluator
        partner, evaluator = (None if one is None else participant(one) for one in ids)
        return opponent, partner, evaluator

    def new_match(
        self, game: Game, people: People, taking: tuple[Participant, Participant | None, Participant | None]
    ) -> Match:
        """A match between these players, as `participants` returns them."""
        return Match(self.new_id(), game, people, *taking, judge_offer(game), self.settings.seed)

    def limiter(self, offers: Iterable[OfferedPlayer]) -> CapacityLimiter:
        """The threads in which a match against these opponents is played."""
        return self.slow if any(offer.is_slow or offer.learns for offer in offers) else self.quick

    async def with_match(
        self, name: str, change: Callable[[Match], Answer], limiter: CapacityLimiter | None = None
    ) -> Answer:
        """The result of `change` for a match, while its lock is held. Raises NotFoundError.

        `limiter`: the threads for it; None: those that suit the opponents.
        """
        async with (match := self.matches.get(name)).lock:
            # The opponent is read while the lock is held: another request may have changed it.
            return await run_sync(change, match, limiter=limiter or self.limiter(match.offers))

    async def solve_game(self, name: str) -> bool:
        """Compute perfect play of the game of a match; False if the game is too large. Raises NotFoundError."""
        game = self.matches.get(name).game
        perfect = perfect_player_of(game) if is_found_out(game) else await run_sync(perfect_player_of, game)
        return perfect is not None

    async def wait_for_solution(self, name: str, seconds: float, ply: int | None = None) -> None:
        """Wait for the solution of a position, at most `search_seconds`. No thread and no lock is held meanwhile.

        Args:
            ply: the position before this ply; None: the current one.

        Raises what `with_match` and `Match.solving` raise.
        """
        solving = await self.with_match(name, lambda match: match.solving(ply), self.quick)
        if solving is not None:
            seconds = min(seconds, self.settings.search_seconds)
            await asyncio.wait([asyncio.wrap_future(solving.finished)], timeout=seconds)


# ---------------------------------------------------------------------- open matches


class TooManyMatchesError(SelfPlayError):
    """The server, or one of its clients, has reached the limit of open matches.

    Attributes:
        retry_after: seconds until one of them expires.
    """

    def __init__(self, limit: int, retry_after: int, whose: str) -> None:
        are_open = "1 match is open" if limit == 1 else f"{limit} matches are open"
        super().__init__(f"{are_open}, which is the limit of {whose}; close one or try again later")
        self.retry_after = retry_after


class OpenMatch(NamedTuple):
    """A match that somebody plays."""

    match: Match
    client: str
    """The address of the client that has begun it."""
    last_used: float


class OpenMatches:
    """The open matches by id. Their number is limited, also for each client, and unused ones expire.

    Use it in one thread.

    Args:
        clock: a monotonic clock, in seconds.
    """

    def __init__(self, settings: WebSettings, clock: Callable[[], float]) -> None:
        self.limit, self.client_limit = settings.match_limit, settings.client_match_limit
        self.seconds, self._clock = settings.match_minutes * 60, clock
        # The least recently used match is first.
        self._open: OrderedDict[str, OpenMatch] = OrderedDict()

    def __len__(self) -> int:
        self._remove_expired()
        return len(self._open)

    def check_room(self, client: str) -> None:
        """Raise TooManyMatchesError if a limit is reached."""
        self._remove_expired()
        own = [one for one in self._open.values() if one.client == client]
        if len(own) >= self.client_limit:
            raise TooManyMatchesError(self.client_limit, self._seconds_left(own[0]), "each client")
        if len(self._open) >= self.limit:
            raise TooManyMatchesError(self.limit, self._seconds_left(next(iter(self._open.values()))), "this server")

    def add(self, match: Match, client: str) -> None:
        """Add a match of a client. Raises TooManyMatchesError if a limit is reached."""
        self.check_room(client)
        self._open[match.id] = OpenMatch(match, client, self._clock())

    def get(self, name: str) -> Match:
        """The match with this id; it counts as used now. Raises NotFoundError if there is none."""
        self._remove_expired()
        if name not in self._open:
            raise NotFoundError("unknown match: it may have expired; begin a new one")
        self._open[name] = self._open[name]._replace(last_used=self._clock())
        self._open.move_to_end(name)
        return self._open[name].match

    def remove(self, name: str) -> None:
        """Remove a match. Raises NotFoundError if there is none."""
        del self._open[self.get(name).id]

    def _seconds_left(self, one: OpenMatch) -> int:
        return max(1, math.ceil(one.last_used + self.seconds - self._clock()))

    def _remove_expired(self) -> None:
        while self._open:
            oldest = next(iter(self._open.values()))
            if self._clock() - oldest.last_used < self.seconds:
                return
            del self._open[oldest.match.id]
