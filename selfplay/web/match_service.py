"""Begins, finds and changes matches, with one request at a time for each match."""

import asyncio
import secrets
import time
from collections.abc import Callable
from contextlib import suppress
from typing import TypeVar

import torch

from selfplay.compute.cores import set_search_threads
from selfplay.games import Game
from selfplay.players.capabilities import LearnsFromMatches
from selfplay.search.shared_solver import NotSolvedYetError
from selfplay.settings.web import WebSettings
from selfplay.web.match import Match
from selfplay.web.opponents import OpponentCatalog
from selfplay.web.participants import Participant, Participants, busiest_of
from selfplay.web.proof import Proofs
from selfplay.web.proof_queue import ProofQueue
from selfplay.web.schemas import HintView, LineView, MatchView, NewMatchRequest, PerfectView, ProofView, TakeOverRequest
from selfplay.web.store import MatchStore
from selfplay.web.story import StoryReader
from selfplay.web.workers import Workers

Answer = TypeVar("Answer")


class MatchService:
    """The opponents, the open matches, the stories and the proofs of a server.

    Args:
        clock: a monotonic clock, in seconds.
        new_id: makes the id of the next match.

    Attributes:
        workers: the threads for work that blocks.
    """

    def __init__(
        self,
        settings: WebSettings,
        clock: Callable[[], float] = time.monotonic,
        new_id: Callable[[], str] = lambda: secrets.token_urlsafe(12),
    ) -> None:
        torch.set_num_threads(settings.threads)
        set_search_threads(settings.search_threads)
        self.settings, self._new_id = settings, new_id
        self.catalog = OpponentCatalog(settings)
        self.matches: MatchStore[Match] = MatchStore(
            settings.match_limit, settings.client_match_limit, settings.match_minutes * 60, clock
        )
        self.stories = StoryReader(self.catalog)
        self.proofs = Proofs(self.catalog, self.stories)
        self.workers = Workers()
        self._proof_queue = ProofQueue()

    def close(self) -> None:
        """Let the threads end when their work is done."""
        self.workers.close()
        self._proof_queue.close()

    # ------------------------------------------------------------------ matches

    async def begin(self, request: NewMatchRequest, client: str) -> MatchView:
        """Begin a match. Raises TooManyMatchesError, NotFoundError, and what `OpponentCatalog.player` raises."""
        self.matches.check_room(client)
        game = self.catalog.game(request.game)
        await self._solve_for(game, request)
        # If the player is in the cache, as it usually is, the whole request needs only one thread.
        begun = await self.workers.run_quick(lambda: self._begin_if_cached(request, client, game))
        if isinstance(begun, MatchView):
            return begun
        opponent, partner = await self.workers.run_loading(lambda: self._participants(game, request))
        match = self._match(game, Participants(request.person, opponent, partner))
        return await self.workers.run_for(match.participants.busiest, lambda: self._begin(request, client, match))

    def _begin_if_cached(self, request: NewMatchRequest, client: str, game: Game) -> MatchView | None:
        """The new match; None if a player is not in the cache or may be slow."""
        opponent = self.catalog.opponent(game, request.opponent)
        player = self.catalog.cached_player(game, opponent)
        if player is None or player.as_a(LearnsFromMatches) is not None or request.partner is not None:
            return None
        participants = Participants(request.person, Participant(opponent.view, player))
        return self._begin(request, client, self._match(game, participants))

    def _match(self, game: Game, participants: Participants) -> Match:
        return Match(self._new_id(), game, participants, self.settings.seed)

    def _participants(
        self, game: Game, request: NewMatchRequest | TakeOverRequest
    ) -> tuple[Participant, Participant | None]:
        """The opponent, and the partner if there is another. Raises what `OpponentCatalog.player` raises."""
        opponent = self._participant(game, request.opponent)
        has_partner = request.partner not in (None, request.opponent)
        return opponent, self._participant(game, request.partner or "") if has_partner else None

    def _participant(self, game: Game, opponent_id: str) -> Participant:
        opponent = self.catalog.opponent(game, opponent_id)
        return Participant(opponent.view, self.catalog.player(game, opponent))

    def _begin(self, request: NewMatchRequest, client: str, match: Match) -> MatchView:
        match.resume(request)
        view = match.view()
        self.matches.add(match.id, match, client)
        return view

    async def with_match(self, name: str, change: Callable[[Match], Answer]) -> Answer:
        """The result of `change` for a match, while its lock is held. Raises NotFoundError, BusyError."""
        match = self.matches.get(name)
        # The opponent is read while the lock is held: another request may have changed it.
        return await match.lock.hold(lambda: self.workers.run_for(match.participants.busiest, lambda: change(match)))

    async def hint(self, name: str) -> HintView:
        """A hint in a match. Raises what `with_match` and `Match.hint` raise."""
        await self._solve(self.matches.get(name).game)
        with suppress(NotSolvedYetError):
            return await self.with_match(name, Match.hint)
        await self._wait_for_solution(name, self.settings.search_seconds)
        return await self.with_match(name, Match.hint)

    async def perfect(self, name: str, seconds: float, ply: int | None = None) -> PerfectView:
        """Perfect play in a match, as far as it is known after `seconds`, at most `search_seconds`.

        Args:
            ply: the position before this ply; None: the current one.

        Raises what `with_match` and `Match.solving` raise.
        """
        await self._solve(self.matches.get(name).game)
        await self._wait_for_solution(name, min(seconds, self.settings.search_seconds), ply)
        return await self._quickly(name, lambda match: match.perfect(ply))

    async def line(self, name: str, ply: int | None, *, is_perfect: bool) -> LineView:
        """The best line from a position of a match. Raises as `perfect`."""
        await self._solve(self.matches.get(name).game)
        return await self.with_match(name, lambda match: match.line(ply, is_perfect=is_perfect))

    async def _wait_for_solution(self, name: str, seconds: float, ply: int | None = None) -> None:
        """Wait until a position of a match is solved. No thread and no lock is held meanwhile."""
        solving = await self._quickly(name, lambda match: match.solving(ply))
        if solving is not None:
            await asyncio.wait([asyncio.wrap_future(solving.finished)], timeout=seconds)

    async def _quickly(self, name: str, ask: Callable[[Match], Answer]) -> Answer:
        """As `with_match`, for work that does not ask the opponent."""
        match = self.matches.get(name)
        return await match.lock.hold(lambda: self.workers.run_quick(lambda: ask(match)))

    async def take_over(self, name: str, request: TakeOverRequest) -> MatchView:
        """Let another opponent continue a match. Raises what `begin` and `with_match` raise."""
        game = self.matches.get(name).game
        await self._solve_for(game, request)
        opponent, partner = await self.workers.run_loading(lambda: self._participants(game, request))
        match = self.matches.get(name)

        def changed() -> MatchView:
            match.take_over(opponent, partner)
            return match.view()

        return await match.lock.hold(lambda: self.workers.run_for(busiest_of(opponent, partner), changed))

    async def _solve_for(self, game: Game, request: NewMatchRequest | TakeOverRequest) -> None:
        """Compute perfect play of the game if a chosen player needs it."""
        if any(name and self.catalog.needs_solution(name) for name in (request.opponent, request.partner)):
            await self._solve(game)

    async def _solve(self, game: Game) -> None:
        """Compute perfect play of the game, unless the game is too large."""
        if not self.catalog.is_solving_done(game):
            await self.workers.run_loading(lambda: self.catalog.perfect_player(game))

    # ------------------------------------------------------------------ proofs

    async def prove(self, game_name: str, opponent: str) -> ProofView:
        """Prove whether an opponent can lose, unless too many other proofs are running. Raises what `begin` raises."""
        game = self.catalog.game(game_name)
        found = await self.workers.run_reading(lambda: self.catalog.opponent(game, opponent))
        return await self._proof_queue.of((game.name, found.view.id), lambda: self.proofs.of(game, found))
