"""Where matches are begun, found and gone on with, one request at a time each."""

import secrets
import time
from collections.abc import Callable
from typing import TypeVar

import torch

from selfplay.games import Game
from selfplay.players.capabilities import LearnsFromMatches
from selfplay.players.player import Player
from selfplay.settings.web import WebSettings
from selfplay.web.match import Match
from selfplay.web.opponents import PERFECT, OpponentCatalog
from selfplay.web.player_cache import Opponent
from selfplay.web.proof import Proofs
from selfplay.web.proof_queue import ProofQueue
from selfplay.web.schemas import MatchView, NewMatchRequest, ProofView, TakeOverRequest
from selfplay.web.store import MatchStore
from selfplay.web.story import StoryReader
from selfplay.web.workers import Workers

Answer = TypeVar("Answer")


class MatchService:
    """All that the server holds.

    Args:
        clock: seconds that only grow.
        new_name: makes the id of the next match.

    Attributes:
        workers: the threads in which all that blocks is done.
    """

    def __init__(
        self,
        settings: WebSettings,
        clock: Callable[[], float] = time.monotonic,
        new_name: Callable[[], str] = lambda: secrets.token_urlsafe(12),
    ) -> None:
        torch.set_num_threads(settings.threads)
        self.settings, self._new_name = settings, new_name
        self.catalog = OpponentCatalog(settings)
        self.matches: MatchStore[Match] = MatchStore(settings.match_limit, settings.match_minutes * 60, clock)
        self.stories = StoryReader(self.catalog)
        self.proofs = Proofs(self.catalog, self.stories)
        self.workers = Workers()
        self._proof_queue = ProofQueue()

    def close(self) -> None:
        """Let the threads end once their work is done."""
        self.workers.close()
        self._proof_queue.close()

    # ------------------------------------------------------------------ matches

    async def begin(self, asked: NewMatchRequest) -> MatchView:
        """Raises TooManyMatchesError, NotFoundError, and what making the opponent raises."""
        self.matches.check_room()
        game = self.catalog.game(asked.game)
        if asked.opponent == PERFECT:
            await self._solve(game)
        # Most opponents are made already, and then one thread does it all.
        begun = await self.workers.run_quick(lambda: self._begin_if_made(asked, game))
        if isinstance(begun, MatchView):
            return begun
        player = await self.workers.run_slow(lambda: self.catalog.player(game, begun))
        return await self.workers.run_for(begun.view, lambda: self._begin(asked, game, begun, player))

    def _begin_if_made(self, asked: NewMatchRequest, game: Game) -> MatchView | Opponent:
        """The match, or the opponent if it has to be made first or takes its time."""
        opponent = self.catalog.opponent(game, asked.opponent)
        player = self.catalog.cached_player(game, opponent)
        if player is None or player.as_a(LearnsFromMatches) is not None:
            return opponent
        return self._begin(asked, game, opponent, player)

    def _begin(self, asked: NewMatchRequest, game: Game, opponent: Opponent, player: Player) -> MatchView:
        match = Match(self._new_name(), game, opponent.view, player, self.settings.seed, asked.person)
        view = match.view()
        self.matches.add(match.id, match)
        return view

    async def with_match(self, name: str, change: Callable[[Match], Answer]) -> Answer:
        """The answer of `change` to a match that nobody else has meanwhile. Raises NotFoundError, BusyError."""
        match = self.matches.get(name)
        # Who has the turn knows the opponent, which another request may just have changed.
        return await match.lock.hold(lambda: self.workers.run_for(match.opponent, lambda: change(match)))

    async def with_solved_match(self, name: str, ask: Callable[[Match], Answer]) -> Answer:
        """As `go_on`, for what perfect play may have to be asked for, which is found out before if that is not yet."""
        await self._solve(self.matches.get(name).game)
        return await self.with_match(name, ask)

    async def take_over(self, name: str, asked: TakeOverRequest) -> MatchView:
        """Another opponent goes on with a match. Raises as `begin` and `go_on`."""
        game = self.matches.get(name).game
        if asked.opponent == PERFECT:
            await self._solve(game)
        opponent = await self.workers.run_quick(lambda: self.catalog.opponent(game, asked.opponent))
        player = await self.workers.run_slow(lambda: self.catalog.player(game, opponent))
        match = self.matches.get(name)

        def changed() -> MatchView:
            match.take_over(opponent.view, player)
            return match.view()

        return await match.lock.hold(lambda: self.workers.run_for(opponent.view, changed))

    async def _solve(self, game: Game) -> None:
        """Have it found out whether there is perfect play."""
        if not self.catalog.is_solving_done(game):
            await self.workers.run_slow(lambda: self.catalog.perfect_player(game))

    # ------------------------------------------------------------------ proofs

    async def prove(self, game_name: str, opponent: str) -> ProofView:
        """What is certain about an opponent; nothing yet if too many others are asked about. Raises as `begin`."""
        game = self.catalog.game(game_name)
        found = await self.workers.run_slow(lambda: self.catalog.opponent(game, opponent))
        return await self._proof_queue.of((game.name, found.view.id), lambda: self.proofs.of(game, found))
