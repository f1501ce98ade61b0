"""The exact score of Connect Four positions, and of every action there.

    solver = ConnectFourSolver()
    solver.solve(state).value

Scores are those of the published test sets: 22 minus the number of stones that the winner has played at the end,
positive if the player to move wins, and 0 for a draw. A sooner win has a higher score, a later loss too.
"""

from collections.abc import Callable, Iterator
from typing import TypeVar

import numpy as np
from torch import Tensor

from selfplay.compute.bit_algebra import bit_count
from selfplay.errors import SettingError
from selfplay.games import make_game
from selfplay.games.connect_four import COLUMNS, FULL_BOARD, SQUARES, has_line, is_terminal, legal_actions, play
from selfplay.games.state import State
from selfplay.search.connect_four.board import playable_squares, position_of, winning_squares
from selfplay.search.connect_four.kernel import VISITED, compile_null_window_search
from selfplay.search.connect_four.table import new_table
from selfplay.search.endgame.solver import EndgameResult
from selfplay.search.interruption import StopFlag, run_interruptibly

Result = TypeVar("Result")


class _StoppedError(Exception):
    """Raised in the search thread to stop it, when its result is no longer needed."""


class ConnectFourSolver:
    """Finds exact scores. See docs/results.md for its times.

    A solver keeps a table of results, which speeds up related positions and does not change any result. Use a solver in
    one thread at a time.

    Args:
        table_bits: the table has 2**table_bits entries of 8 bytes; 10 to 30.

    Raises:
        SettingError: table_bits is out of range.
    """

    def __init__(self, table_bits: int = 20) -> None:
        if not 10 <= table_bits <= 30:
            raise SettingError(f"table_bits={table_bits}: must be from 10 to 30")
        self.game = make_game("connect_four")
        self._null_window_search = compile_null_window_search()
        self._table = new_table(table_bits)
        self._work = np.zeros(1, dtype=np.int64)

    def value(self, state: State, row: int = 0, *, time_limit: float | None = None) -> int:
        """The score of match `row` of `state`; faster than `solve`. Raises TimeLimitError (time_limit: seconds)."""
        own, opp = _words(state, row)
        return self._interruptibly(lambda stop: self._value(own, opp, SQUARES, stop), time_limit)

    def outcome(self, state: State, row: int = 0, *, time_limit: float | None = None) -> int:
        """1 if the player to move wins, 0 for a draw, -1 for a loss; faster than `value`.

        Raises TimeLimitError (time_limit: seconds).
        """
        own, opp = _words(state, row)
        return self._interruptibly(lambda stop: self._value(own, opp, 1, stop), time_limit)

    def solve(self, state: State, row: int = 0, *, time_limit: float | None = None) -> EndgameResult:
        """The score of match `row` of `state` and best play to its end. Raises TimeLimitError (time_limit: seconds)."""
        own, opp = _words(state, row)

        def search(stop: StopFlag) -> EndgameResult:
            value = self._value(own, opp, SQUARES, stop)
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
        """The score to the player to move of every legal action of match `row` of `state`, in ascending order.

        Empty where the match is over.

        Args:
            time_limit: seconds for all actions together.
            on_value: called with each action and its score as soon as it is known, in another thread.

        Raises:
            TimeLimitError: time_limit is too short.
        """
        own, opp = _words(state, row)

        def search(stop: StopFlag) -> dict[int, int]:
            values: dict[int, int] = {}
            for action, mine, others in self._successors(own, opp):
                values[action] = -self._value(mine, others, SQUARES, stop)
                if on_value:
                    on_value(action, values[action])
            return values

        return self._interruptibly(search, time_limit)

    def empties(self, state: State) -> Tensor:
        """int64[B]: the number of empty squares of each position."""
        counts: Tensor = bit_count(FULL_BOARD & ~(state.own | state.opp))
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
        return run_interruptibly(search, time_limit, "the position")

    def _value(self, own: int, opp: int, largest: int, stop: StopFlag) -> int:
        """The score, clipped to -largest..largest."""
        empties = SQUARES - (own | opp).bit_count()
        if is_terminal(own, opp):
            return max(-((empties + 2) // 2), -largest) if has_line(opp) else 0
        mine, stones = position_of(own, opp)
        if winning_squares(mine, stones) & playable_squares(stones):
            return min((empties + 1) // 2, largest)
        lower, upper = max(-(empties // 2), -largest), min((empties - 1) // 2, largest)
        while lower < upper:
            bound = _next_bound(lower, upper)
            score = self._null_window_search(mine, stones, bound, self._table, self._work, stop)
            if stop[0]:
                raise _StoppedError
            lower, upper = (min(score, upper), upper) if score > bound else (lower, max(score, lower))
        return lower

    def _best_actions(self, own: int, opp: int, value: int, stop: StopFlag) -> Iterator[int]:
        """The lowest of the best actions here, then in the position after it, to the end of the match."""
        while successors := list(self._successors(own, opp)):
            value = -value
            action, own, opp = next(
                (action, mine, others)
                for action, mine, others in successors
                if len(successors) == 1 or self._value(mine, others, SQUARES, stop) == value
            )
            yield action

    def _successors(self, own: int, opp: int) -> Iterator[tuple[int, int, int]]:
        """Each legal action, in ascending order, and the position (own, opp) that it leads to."""
        legal = legal_actions(own, opp)
        for action in range(COLUMNS):
            if legal >> action & 1:
                yield action, *play(own, opp, 1 << action)


def _next_bound(lower: int, upper: int) -> int:
    """The score for which the next search asks.

    Far from 0 a search ends soon, because few lines win or lose so fast; the interval is therefore narrowed from its
    ends (as Pons describes) and not halved.
    """
    middle = (lower + upper) // 2
    return min(middle, -(-lower // 2)) if middle <= 0 else max(middle, upper // 2)


def _words(state: State, row: int) -> tuple[int, int]:
    return int(state.own[row]), int(state.opp[row])
