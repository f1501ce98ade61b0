"""The exact score of Connect Four positions, and of every action there.

    solver = ConnectFourSolver(make_game("connect_four"))
    solver.solve(state).value

Scores are those of the published test sets: 22 minus the number of stones that the winner has played at the end,
positive if the player to move wins, and 0 for a draw. A sooner win and a later loss have higher scores.
"""

from collections.abc import Callable
from functools import cache

import numpy as np
from numpy.typing import NDArray

from selfplay.compute.bit_algebra import bit_count
from selfplay.compute.compilation import Words, borrowed, compiled, part_of_compiled
from selfplay.compute.positions import Packed
from selfplay.errors import SettingError
from selfplay.games.connect_four import COLUMNS, SQUARES, ConnectFour, Position, has_line, is_terminal
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.search.connect_four.board import (
    Table,
    completing_squares,
    from_words_of_game,
    make_solver_table,
    playable_squares,
)
from selfplay.search.connect_four.kernel import ConnectFourSearch, score_of
from selfplay.search.connect_four.opening_book import NO_BOOK, Book, opening_book
from selfplay.search.deadline import StoppedError
from selfplay.search.exact_solver import ExactSolver, check_table_bits
from selfplay.search.threads import ProgressRecord, StopFlag, make_progress, start_counting


@part_of_compiled
def clipped(score: int, lowest: int, highest: int) -> int:
    """The nearest number to `score` in lowest..highest."""
    return min(max(score, lowest), highest)


@part_of_compiled
def next_bound(lower: int, upper: int) -> int:
    """The bound of the next search.

    Searches with a bound far from 0 end soon, because few lines win or lose so fast. Therefore the interval is narrowed
    from its ends, as Pons describes, and not halved.
    """
    middle = (lower + upper) // 2
    return min(middle, -(-lower // 2)) if middle <= 0 else max(middle, upper // 2)


@cache
def compile_connect_four_values() -> Callable[..., bool]:
    """`search_batch(positions, lowest, highest, table, book, moves, progress, stop, values)`.

    It writes the score of each position, clipped to lowest..highest, to `values`. Returns False if it was stopped; the
    scores are then meaningless.
    """

    @part_of_compiled
    def value_within(own: int, opp: int, lowest: int, highest: int, search: ConnectFourSearch) -> int:
        empties = SQUARES - bit_count(own | opp)
        position = Position(own, opp)
        if is_terminal(position):
            return clipped(-((empties + 2) // 2) if has_line(position.opp) else 0, lowest, highest)
        mine, stones = from_words_of_game(own, opp)
        if completing_squares(mine, stones) & playable_squares(stones) != 0:
            return clipped((empties + 1) // 2, lowest, highest)
        lower, upper = clipped(-(empties // 2), lowest, highest), clipped((empties - 1) // 2, lowest, highest)
        while lower < upper and search.progress.is_stopped == 0:
            bound = next_bound(lower, upper)
            score = score_of(mine, stones, empties, bound, search)
            if score > bound:
                lower = min(score, upper)
            else:
                upper = max(score, lower)
        return lower

    @compiled
    def search_batch(
        positions: Packed,
        lowest: Words,
        highest: Words,
        table: Table,
        book: Book,
        moves: NDArray[np.int64],
        progress: ProgressRecord,
        stop: StopFlag,
        values: Words,
    ) -> bool:
        table, book, moves, stop = borrowed((table, book, moves, stop))
        search = ConnectFourSearch(table, book, moves, progress[0], stop)
        start_counting(search.progress, stop)
        for i in range(len(positions)):
            values[i] = value_within(positions[i, 0], positions[i, 1], lowest[i], highest[i], search)
            if search.progress.is_stopped != 0:
                return False
        return True

    return search_batch


SCORE_OF_NO_STONES = SQUARES // 2 + 1
"""The score minus the number of stones of the winner."""


class ConnectFourSolver(ExactSolver):
    """Finds exact scores. See docs/connect_four.md for its times.

    Args:
        table_bits: the table has 2**table_bits entries of 8 bytes; 10 to 30.
        with_book: whether the values of positions of 12 plies are read from the opening book, where it is installed.

    Raises:
        SettingError: table_bits is out of range, or the game has other rules than Connect Four.
        InvalidFileError: the book is damaged.
    """

    practical_empties = SQUARES
    counts_points = False
    quick_positions = 50_000  # about 10 ms

    def __init__(self, game: Game, table_bits: int = 20, with_book: bool = True) -> None:
        if game.rules != ConnectFour.rules:
            raise SettingError(f"{game!r}: this solver knows the usual rules of Connect Four; set exact_solver = None")
        check_table_bits(table_bits, 10)
        # Made once, because the time in which the C library allocates memory varies by milliseconds.
        moves = np.zeros((SQUARES + 1) * COLUMNS, dtype=np.int64)
        self._memory = make_solver_table(table_bits), opening_book() if with_book else NO_BOOK, moves
        super().__init__(game, make_progress())
        self._search_batch = compile_connect_four_values()

    def value_text(self, value: int, state: State, row: int = 0) -> str:
        """In words, with the number of moves that the winner still makes: "wins in 8", "loses in 12", "draws"."""
        if value == 0:
            return "draws"
        return f"{'wins' if value > 0 else 'loses'} in {_moves_of_winner(value, state, row)}"

    def plies_to_end(self, value: int, state: State, row: int = 0) -> int:
        if value == 0:
            return SQUARES - sum(_stones(state, row))
        return 2 * _moves_of_winner(value, state, row) - (value > 0)

    def _values_within(
        self, positions: Packed, lowest: Words, highest: Words, expected: Words, stop: StopFlag
    ) -> Words:
        values = np.empty_like(lowest)
        if not self._search_batch(positions, lowest, highest, *self._memory, self._progress, stop, values):
            raise StoppedError
        return values


def _stones(state: State, row: int) -> tuple[int, int]:
    """The number of stones of the player to move, and of the other."""
    own, opp = state.position[row].tolist()
    return own.bit_count(), opp.bit_count()


def _moves_of_winner(value: int, state: State, row: int) -> int:
    """The number of moves that the winner still makes. `value`: the score of the position, not 0."""
    own, opp = _stones(state, row)
    return SCORE_OF_NO_STONES - abs(value) - (own if value > 0 else opp)
