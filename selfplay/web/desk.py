"""Where matches are begun, found and gone on with, each in a worker thread while the server goes on answering."""

import asyncio
import secrets
import time
from collections.abc import Callable
from concurrent.futures import ThreadPoolExecutor
from typing import TypeVar

import torch

from selfplay.web.match import Match
from selfplay.web.opponents import Opponent, Roster
from selfplay.web.proof import Proofs
from selfplay.web.schemas import MatchView, NewMatch, ProofView, TakeOver
from selfplay.web.settings import WebSettings
from selfplay.web.store import MatchStore
from selfplay.web.story import Stories

Answer = TypeVar("Answer")

QUICK_WORKERS = 1
"""What takes a millisecond takes longer in several threads, which would hand the interpreter's lock to and fro."""
SLOW_WORKERS = 4
"""Matches with a search are thought about by threads of their own, so that the others need not wait for them."""


class Desk:
    """All that the server holds. Methods that block run in `quickly` or `slowly`.

    Args:
        clock: seconds that only grow.
        new_name: makes the id of the next match.
    """

    def __init__(
        self,
        settings: WebSettings,
        clock: Callable[[], float] = time.monotonic,
        new_name: Callable[[], str] = lambda: secrets.token_urlsafe(12),
    ) -> None:
        torch.set_num_threads(settings.threads)
        self.settings, self._new_name = settings, new_name
        self.roster = Roster(settings)
        self.matches: MatchStore[Match] = MatchStore(settings.match_limit, settings.match_minutes * 60, clock)
        self.stories = Stories(self.roster)
        self.proofs = Proofs(self.roster, self.stories)
        self._quick = ThreadPoolExecutor(QUICK_WORKERS, "quick")
        self._slow = ThreadPoolExecutor(SLOW_WORKERS, "slow")
        self._proving = ThreadPoolExecutor(1, "proving")

    async def quickly(self, work: Callable[[], Answer]) -> Answer:
        """The result of `work`, which takes milliseconds."""
        return await asyncio.get_running_loop().run_in_executor(self._quick, work)

    async def slowly(self, work: Callable[[], Answer]) -> Answer:
        """The result of `work`, which may take seconds."""
        return await asyncio.get_running_loop().run_in_executor(self._slow, work)

    def close(self) -> None:
        """Let the threads end once their work is done."""
        self._quick.shutdown(wait=False)
        self._slow.shutdown(wait=False)
        self._proving.shutdown(wait=False)

    # ------------------------------------------------------------------ matches

    async def begin(self, asked: NewMatch) -> MatchView:
        """Raises FullError, UnknownError, and what making the opponent raises."""
        self.matches.check_room()
        run = self.quickly if self.roster.is_ready(asked.game, asked.opponent) else self.slowly
        return await run(lambda: self._begin(asked))

    def _begin(self, asked: NewMatch) -> MatchView:
        game = self.roster.game(asked.game)
        opponent = self.roster.opponent(game, asked.opponent)
        player = self.roster.player(game, opponent)
        match = Match(self._new_name(), game, opponent.view, player, self.settings.seed, asked.person)
        view = match.view()
        self.matches.add(match.name, match)
        return view

    async def go_on(self, name: str, change: Callable[[Match], Answer]) -> Answer:
        """The answer of `change` to a match that nobody else has meanwhile. Raises UnknownError, BusyError."""
        match = self.matches.get(name)

        def changed() -> Answer:
            with match.held():
                return change(match)

        return await (self.slowly(changed) if match.opponent.is_slow else self.quickly(changed))

    async def take_over(self, name: str, asked: TakeOver) -> MatchView:
        """Another opponent goes on with a match. Raises as `begin` and `go_on`."""
        match = self.matches.get(name)

        def changed() -> MatchView:
            with match.held():
                opponent = self.roster.opponent(match.game, asked.opponent)
                match.take_over(opponent.view, self.roster.player(match.game, opponent))
                return match.view()

        return await self.slowly(changed)

    async def prove(self, game_name: str, opponent: str) -> ProofView:
        """What is certain about an opponent. Raises as `begin`."""

        def proof() -> ProofView:
            game = self.roster.game(game_name)
            found: Opponent = self.roster.opponent(game, opponent)
            return self.proofs.of(game, found)

        return await asyncio.get_running_loop().run_in_executor(self._proving, proof)
