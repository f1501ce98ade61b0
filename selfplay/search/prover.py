"""Proves the results of the actions of a position, for any game.

proofs = Prover(game).proofs(state)
proofs.prove_best(1_000_000)
proofs.results
"""

from collections import defaultdict
from collections.abc import Callable, Collection, Sequence
from contextlib import suppress
from functools import cached_property

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.compute.compilation import Words
from selfplay.compute.compiled_word_type import word_dtype
from selfplay.compute.table_memory import zeros_of_table
from selfplay.errors import TimeLimitError
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.games.tiers import Tier
from selfplay.pickling import MadeAgain
from selfplay.search.deadline import StoppedError
from selfplay.search.proof_numbers import DRAW, DRAWS, LIMIT, POSITION, VISITED, WIN, ProofSearch, compile_proofs
from selfplay.search.threads import STOP, StopFlag, make_stop_flag, run_interruptibly
from selfplay.search.tiers import Calls, tiers_of

TABLE_BITS = 19
"""The usual size of the table: 2**TABLE_BITS entries."""
MOST_PLIES = 200
"""How far a search looks ahead."""
RESULT_TEXTS = {1.0: "wins", 0.0: "draws", -1.0: "loses"}
Results = NDArray[np.float32]
"""float32[A]: the proved result of each action to the player to move, 1, 0 or -1; nan where none is proved."""
FIRST_VISITED, GROWTH = 2_000, 8
"""Each action is searched for this number of visited positions at first, and then for this many times more."""


class Prover(MadeAgain):
    """Proves results in one game. Use it in one thread at a time.

    Args:
        table_bits: the table has 2**table_bits entries, of 32 bytes where a position is two boards of at most 64
            squares.
    """

    def __init__(self, game: Game, table_bits: int = TABLE_BITS) -> None:
        self.game, self.table_bits = game, table_bits

    @cached_property
    def _search(self) -> ProofSearch:
        rules, plies = self.game.compiled_rules, min(MOST_PLIES, self.game.max_game_length + 1)
        num_actions, num_words = self.game.num_distinct_actions, rules.position.num_words
        actions, again, wins, losses = np.zeros((4, plies, num_actions), dtype=np.int64)
        return ProofSearch(
            # As long as no position is searched, of the tier that has the rules of the game.
            np.zeros((plies, num_actions), word_dtype(num_words)),
            actions,
            again,
            wins,
            losses,
            reached=np.zeros((2, num_actions), dtype=np.int64),
            table=zeros_of_table((POSITION + num_words) << self.table_bits, np.int64),
            counts=np.zeros(DRAWS + 1, dtype=np.int64),
            stop=make_stop_flag(),
        )

    def proofs(self, state: State, *, keeps_table: bool = False) -> "Proofs":
        """What is proved in an unfinished position (B = 1): nothing yet.

        keeps_table: whether to search with what earlier searches have found, so that the time for a proof depends on
            them.
        """
        if not keeps_table:
            for array in (self._search.reached, self._search.table, self._search.counts):
                array[:] = 0
        return Proofs(self.game, state, self._search)


class Proofs:
    """The results of the actions of a position that are proved so far.

    They depend only on the position and on what was asked, unless the deadline of the context ends a search.

    Attributes:
        actions: the legal ones, ascending.
        results: see `Results`.
    """

    def __init__(self, game: Game, state: State, search: ProofSearch) -> None:
        self._game, self._tiers = game, tiers_of(game.compiled_rules, game.pass_action, compile_proofs)
        self._search = search
        self._tier = self._tiers.tier(self._calls_in)
        if search.following.dtype != self._tier.word:
            self._search = search._replace(following=np.zeros(search.following.shape, self._tier.word))
        self.actions: list[int] = game.legal_action_mask(state)[0].nonzero()[:, 0].tolist()
        rows = state.select(torch.zeros(len(self.actions), dtype=torch.int64))
        after = game.step_unchecked(rows, torch.tensor(self.actions))
        self._signs = torch.where(after.current_player == state.current_player, 1, -1).tolist()
        self._position, self._after = (self._tier.rows(one.position.numpy()) for one in (state, after))
        self.results: Results = np.full(game.num_distinct_actions, np.nan, dtype=np.float32)

    @property
    def are_all(self) -> bool:
        """Whether the results of all legal actions are proved."""
        return not np.isnan(self.results[self.actions]).any()

    def prove_best(self, most_visited: int) -> None:
        """Look for the result of the position, visiting at most about this number of positions."""

        def search() -> None:
            self._result(self._position, 0, 1, most_visited)
            # The table knows which actions lead to it.
            for action in self._unknown(self.actions):
                self._try(action, 0)

        self._interruptibly(search)

    def prove(self, actions: Sequence[int], most_visited: int) -> None:
        """Look for the results of these actions, first a little for each, then more."""

        def search() -> None:
            left, each = most_visited, FIRST_VISITED
            while left > 0 and (unknown := self._unknown(actions)):
                for action in unknown:
                    before = self._visited
                    self._try(action, min(each, left))
                    left = max(0, left - (self._visited - before))
                each *= GROWTH

        self._interruptibly(search)

    def prove_all(self, seconds: float | None, on_result: Callable[[int, float], None]) -> None:
        """Prove the results of all actions, and call `on_result` with each as soon as it is known, in another thread.

        Raises TimeLimitError if that takes longer.
        """

        def search(stop: StopFlag) -> None:
            self._search, each = self._search._replace(stop=stop), FIRST_VISITED
            while unknown := self._unknown(self.actions):
                # The result of the position is found sooner than those of all actions, and leads to some of them.
                self._result(self._position, 0, 1, each * len(unknown))
                for action in unknown:
                    self._try(action, each)
                    if not np.isnan(self.results[action]):
                        on_result(action, float(self.results[action]))
                    if stop[STOP]:
                        raise StoppedError
                each *= GROWTH

        run_interruptibly(search, seconds, "proving results")

    def _calls_in(self, tier: Tier) -> Calls:
        """What a search calls in a tier, with arguments of their types."""
        num_words, shape = self._game.rules.position.num_words, self._search.following.shape
        none, search = np.zeros((0, num_words), dtype=np.int64), self._search
        search = search._replace(following=np.zeros(shape, tier.word))
        return [(compile_proofs(tier.rules, tier.pass_action), (tier.rows(none), 0, 0, search))]

    @property
    def _visited(self) -> int:
        return int(self._search.counts[VISITED])

    def _unknown(self, actions: Sequence[int]) -> list[int]:
        return [action for action in actions if np.isnan(self.results[action])]

    def _try(self, action: int, most_visited: int) -> None:
        row = self.actions.index(action)
        self.results[action] = self._result(self._after, row, self._signs[row], most_visited)

    def _result(self, positions: Words, row: int, sign: int, most_visited: int) -> float:
        """The result of a position to the player to move at first; nan if it is not proved. `sign`: 1 if the same
        player is to move there, else -1."""
        before, prove = self._visited, compile_proofs(self._tier.rules, self._tier.pass_action)
        self._search.counts[LIMIT] = before + most_visited
        for goal in (WIN, DRAW):
            found = prove(positions, row, goal if sign > 0 else 1 - goal, self._search)
            self._tiers.worked(self._tier, self._visited - before, self._calls_in)
            before = self._visited
            reached, missed = found[::sign]
            if reached == 0:
                return float(goal)
            if missed != 0:
                return np.nan
            if self._search.counts[DRAWS] == 0:
                # Where no match was drawn, whoever does not win loses.
                break
        return -1.0

    def _interruptibly(self, search: Callable[[], object]) -> None:
        """Call `search`, and leave unknown what it does not prove before the deadline of the context."""

        def stoppable(stop: StopFlag) -> None:
            self._search = self._search._replace(stop=stop)
            search()

        with suppress(TimeLimitError):
            run_interruptibly(stoppable)


MOST_TABLE_BITS, MOST_SECONDS = 21, 120.0
"""The largest table of a `ResultSolver`, and how long it works on a position at most, in all calls together."""


class ResultSolver:
    """The results of all actions, as an exact solver gives values; keeps its table, in which later searches look."""

    def __init__(self, game: Game, table_bits: int = MOST_TABLE_BITS) -> None:
        self._prover = Prover(game, min(table_bits, MOST_TABLE_BITS))
        self._spent: dict[tuple[int, ...], float] = defaultdict(float)

    def action_values(
        self,
        state: State,
        row: int = 0,
        *,
        time_limit: float | None = None,
        on_value: Callable[[int, int], None] | None = None,
        known: Collection[int] = (),
    ) -> dict[int, int]:
        """As `ExactSolver.action_values`: 1, 0 or -1. After MOST_SECONDS further actions are left out."""
        values, key = dict[int, int](), tuple(state.position[row].tolist())

        def keep(action: int, result: float) -> None:
            values[action] = int(result)
            if on_value is not None and action not in known:
                on_value(action, int(result))

        if not bool(state.terminated[row]) and self._spent[key] < MOST_SECONDS:
            proofs = self._prover.proofs(state.select(torch.tensor([row])), keeps_table=True)
            try:
                proofs.prove_all(time_limit, keep)
            except TimeLimitError:
                self._spent[key] += time_limit or MOST_SECONDS
                raise
        return values

    def value_text(self, value: int, state: State, row: int = 0) -> str:
        """A result in words."""
        return RESULT_TEXTS[value]
