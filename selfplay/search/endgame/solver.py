"""The exact value of positions near the end of a match, and of every action there.

    solver = EndgameSolver(make_game("othello"))
    solver.solve(state).value

The solver repeats null-window searches until only one value is left (MTD(f): Plaat, Schaeffer, Pijls & de Bruin,
"Best-first fixed-depth minimax algorithms", 1996). Each search tightens the bounds that a table holds, so the next one
is faster. The first guess, which decides how many searches are needed, comes from the same search with few moves tried.
"""

from collections.abc import Callable, Iterator
from typing import NamedTuple, TypeVar

import numpy as np
import torch
from torch import Tensor

from selfplay.compute.bit_algebra import bit_count
from selfplay.errors import SettingError
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.search.endgame.kernel import ALL_MOVES, compile_null_window_search
from selfplay.search.endgame.last_squares import EMPTIES_TO_WINNER, VISITED
from selfplay.search.endgame.table import new_table
from selfplay.search.interruption import StopFlag, run_interruptibly

Result = TypeVar("Result")

GUESS_WIDTHS = (2, 3)
"""How many moves of each position are tried for the guesses."""
GUESS_DOWN_TO = 10
"""With fewer empty squares than this, guesses try all moves."""
GUESS_FROM = GUESS_DOWN_TO + 4
"""With fewer empty squares than this, a guess takes longer than it saves."""


ALL_BITS = (1 << 64) - 1


class EndgameResult(NamedTuple):
    """The result of best play."""

    value: int
    """The points by which the player to move wins; negative if the opponent wins."""
    action: int | None
    """The best action, the lowest if several are equally good; None where the match is over."""
    principal_variation: tuple[int, ...]
    """The best actions to the end of the match, including passes, each the lowest of the equally good ones."""
    visited: int
    """Number of positions visited."""


class _StoppedError(Exception):
    """Raised in the search thread to stop it, when its result is no longer needed."""


class EndgameSolver:
    """Finds exact values: the points (Othello: discs) by which the player to move wins.

    With 20 empty squares this takes a few seconds; each further empty square takes about three times as long. A solver
    keeps a table of results, which speeds up related positions and does not change any result. Use a solver in one
    thread at a time.
    """

    def __init__(self, game: Game, table_bits: int = 20, empties_to_winner: bool = True) -> None:
        """A solver for `game`.

        Args:
            table_bits: the table has 2**table_bits entries of 32 bytes; 1 to 30.
            empties_to_winner: whether squares that are empty at the end count for the winner, as in tournaments, so
                that 11 discs to 3 on 16 squares are won by 10 and not by 8.

        Raises:
            SettingError: the moves of the game do not turn discs, or table_bits is out of range.
        """
        if game.turning_rules is None or game.rules.margin is None:
            raise SettingError(f"game={game.name}: endgames are solved only in games that turn discs, such as othello")
        if not 1 <= table_bits <= 30:
            raise SettingError(f"table_bits={table_bits}: must be from 1 to 30")
        self.game = game
        self._board = game.turning_rules.board
        self._null_window_search = compile_null_window_search(game.rules, game.turning_rules)
        self._table = new_table(table_bits)
        self._work = np.zeros(2, dtype=np.int64)
        self._work[EMPTIES_TO_WINNER] = int(empties_to_winner)
        self._searches = 0

    def value(self, state: State, row: int = 0, *, time_limit: float | None = None) -> int:
        """The value of match `row` of `state`; faster than `solve`. Raises TimeLimitError (time_limit: seconds)."""
        own, opp = _words(state, row)
        return self._interruptibly(lambda stop: self._value(own, opp, stop), time_limit)

    def solve(self, state: State, row: int = 0, *, time_limit: float | None = None) -> EndgameResult:
        """The value of match `row` of `state` and best play to its end. Raises TimeLimitError (time_limit: seconds)."""
        own, opp = _words(state, row)

        def search(stop: StopFlag) -> EndgameResult:
            value = self._value(own, opp, stop)
            actions = tuple(self._best_actions(own, opp, value, stop))
            return EndgameResult(value, actions[0] if actions else None, actions, self.visited)

        return self._interruptibly(search, time_limit)

    def action_values(
        self,
        state: State,
        row: int = 0,
        *,
        time_limit: float | None = None,
        on_value: Callable[[int, int], None] | None = None,
    ) -> dict[int, int]:
        """The value to the player to move of every legal action of match `row` of `state`, in ascending order.

        A pass counts as an action. Empty where the match is over.

        Args:
            time_limit: seconds for all actions together.
            on_value: called with each action and its value as soon as it is known, in another thread.

        Raises:
            TimeLimitError: time_limit is too short.
        """
        own, opp = _words(state, row)

        def search(stop: StopFlag) -> dict[int, int]:
            values: dict[int, int] = {}
            for action, mine, others in self._successors(own, opp):
                values[action] = -self._value(mine, others, stop)
                if on_value:
                    on_value(action, values[action])
            return values

        return self._interruptibly(search, time_limit)

    def empties(self, state: State) -> Tensor:
        """int64[B]: the number of empty squares of each position."""
        counts: Tensor = bit_count(self._board & ~(state.own | state.opp))
        return counts

    @property
    def table_bytes(self) -> int:
        """The size of the table in bytes."""
        return int(self._table.nbytes)

    @property
    def visited(self) -> int:
        """Number of positions visited in the last call."""
        return int(self._work[VISITED])

    def _interruptibly(self, search: Callable[[StopFlag], Result], time_limit: float | None) -> Result:
        self._work[VISITED] = 0
        return run_interruptibly(search, time_limit, "the endgame")

    def _value(self, own: int, opp: int, stop: StopFlag) -> int:
        guess = 0
        if self._empties(own, opp) >= GUESS_FROM:
            for width in GUESS_WIDTHS:
                guess = self._converge(own, opp, guess, width, stop)
        return self._converge(own, opp, guess, ALL_MOVES, stop)

    def _converge(self, own: int, opp: int, guess: int, width: int, stop: StopFlag) -> int:
        """Repeat null-window searches until one value is left."""
        self._searches += 1
        upper = self._empties(0, 0)
        lower = -upper
        while lower < upper:
            bound = max(guess - 1, lower)
            guess = self._ask(own, opp, bound, width, stop)
            lower, upper = (guess, upper) if guess > bound else (lower, guess)
        return lower

    def _ask(self, own: int, opp: int, bound: int, width: int, stop: StopFlag) -> int:
        search = self._searches
        value = self._null_window_search(own, opp, bound, search, width, GUESS_DOWN_TO, self._table, self._work, stop)
        if stop[0]:
            raise _StoppedError
        return value

    def _best_actions(self, own: int, opp: int, value: int, stop: StopFlag) -> Iterator[int]:
        """The lowest of the best actions here, then in the position after it, to the end of the match."""
        successors = list(self._successors(own, opp))
        while successors:
            value = -value
            action, own, opp = next(
                (action, mine, others)
                for action, mine, others in successors
                if len(successors) == 1 or self._ask(mine, others, value, ALL_MOVES, stop) <= value
            )
            yield action
            successors = list(self._successors(own, opp))

    def _successors(self, own: int, opp: int) -> Iterator[tuple[int, int, int]]:
        """Each legal action, in ascending order, and the position (own, opp) that it leads to."""
        state = self.game.state_at(torch.tensor([own]), torch.tensor([opp]))
        actions = self.game.legal_action_mask(state)[0].nonzero()[:, 0]
        after = self.game.step_with_tensors(state.select(torch.zeros_like(actions)), actions)
        yield from zip(actions.tolist(), after.own.tolist(), after.opp.tolist(), strict=True)

    def _empties(self, own: int, opp: int) -> int:
        return (self._board & ~(own | opp) & ALL_BITS).bit_count()


def _words(state: State, row: int) -> tuple[int, int]:
    return int(state.own[row]), int(state.opp[row])
