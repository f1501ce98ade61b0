"""The exact value of positions near the end of a match, and of every action there.

    solver = EndgameSolver(make_game("othello"))
    solver.solve(state).value

The solver repeats null-window searches until only one value is left (MTD(f): Plaat, Schaeffer, Pijls & de Bruin,
"Best-first fixed-depth minimax algorithms", 1996). Each search tightens the bounds that a table holds, so the next one
is faster. The first guess, which decides how many searches are needed, comes from the same search with few moves tried.
"""

from collections.abc import Callable
from functools import cache, partial

import numpy as np
import torch

from selfplay.compute.compilation import Words, compiled, register_rules
from selfplay.errors import SettingError
from selfplay.games.game import Game
from selfplay.games.rules import Rules, TurningRules
from selfplay.games.state import State
from selfplay.search.endgame.kernel import ALL_MOVES, GUESS_DOWN_TO, compile_null_window_search
from selfplay.search.endgame.last_squares import COUNT, NO_VALUE, Counts
from selfplay.search.endgame.move_ordering import NO_LEARNED_VALUES, LearnedValues, learned_values_of
from selfplay.search.endgame.table import Table, make_table
from selfplay.search.exact_solver import ExactSolver, check_table_bits
from selfplay.search.threads import STOP, StopFlag, StoppedError, Threads, make_threads, search_together


@cache
def compile_values_within(rules: Rules, turning: TurningRules) -> Callable[..., None]:
    """The search of a batch in a game with these rules, in one thread.

    It writes the value of each position (own, opp), clipped to lowest..highest, to `values`. It is faster if `expected`
    is near the value. It returns at once when it is stopped; the values are then meaningless.
    """
    register_rules()
    null_window_search = compile_null_window_search(rules, turning)

    @compiled
    def values_within(
        own: Words,
        opp: Words,
        lowest: Words,
        highest: Words,
        expected: Words,
        search: int,
        table: Table,
        learned: LearnedValues,
        threads: Threads,
        counts: Counts,
        values: Words,
    ) -> None:
        for i in range(len(own)):
            lower, upper, guess = lowest[i], highest[i], expected[i]
            while lower < upper:
                # A guess that is right is confirmed by one search below it and one above it.
                bound = min(max(guess - 1, lower), upper - 1)
                threads.finished[0] = 0
                guess = null_window_search(own[i], opp[i], bound, search, ALL_MOVES, table, learned, threads, counts)
                if threads.stop[STOP] != 0:
                    return
                if guess > bound:
                    lower = min(guess, upper)
                else:
                    upper = max(guess, lower)
            values[i] = lower

    return values_within


ALL_BITS = (1 << 64) - 1
GUESS_WIDTHS = (2, 3)
"""How many moves of each position are tried for the guesses."""
GUESS_FROM = GUESS_DOWN_TO + 4
"""With fewer empty squares than this, a guess takes longer than it saves."""
LEARNED_VALUES_FROM = 20
"""The number of empty squares from which a search takes longer than reading learned values for ordering its moves."""

THREADS_FROM = 16
"""With fewer empty squares than this, starting threads takes longer than it saves."""


class EndgameSolver(ExactSolver):
    """Finds exact values: the points (Othello: discs) by which the player to move wins.

    With 20 empty squares this takes a few seconds; each further empty square takes about three times as long.
    """

    practical_empties = 30
    counts_points = True

    def __init__(self, game: Game, table_bits: int = 20, empties_to_winner: bool = True) -> None:
        """A solver for `game`.

        Args:
            table_bits: the table has 2**table_bits entries of 32 bytes; 1 to 30.
            empties_to_winner: whether squares that are empty at the end count for the winner, as in tournaments, so
                that 11 discs to 3 on 16 squares are won by 10 and not by 8.

        Raises:
            SettingError: the moves of the game do not turn discs, the player with more discs does not win, or
                table_bits is out of range.
        """
        if game.turning_rules is None or game.rules.margin is None:
            raise SettingError(f"game={game.name}: endgames are solved only in games that turn discs, such as othello")
        board = torch.tensor([game.turning_rules.board])
        if int(game.rules.return_to_move(board, torch.zeros_like(board))) != 1:
            raise SettingError(f"{game!r}: endgames are solved for the player with more discs; set exact_solver = None")
        check_table_bits(table_bits, 1)
        self._counts = np.zeros(1, dtype=COUNT)
        self._counts["empties_to_winner"] = empties_to_winner
        super().__init__(game, self._counts.view(np.int64))
        self._turning, self._table = game.turning_rules, make_table(table_bits)
        self._null_window_search = compile_null_window_search(game.rules, game.turning_rules)
        self._searches, self._learned = 0, NO_LEARNED_VALUES

    def value_text(self, value: int, state: State, row: int = 0) -> str:
        if value == 0:
            return "draws"
        return f"wins by {value}" if value > 0 else f"loses by {-value}"

    def _value(self, own: int, opp: int, stop: StopFlag) -> int:
        guess, empties = 0, self._empties(own, opp)
        if empties >= LEARNED_VALUES_FROM:
            # Also for all later positions, because usually the following positions are solved next.
            self._learned = learned_values_of(self.game.name)
        if empties >= GUESS_FROM:
            for width in GUESS_WIDTHS:
                guess = self._converge(own, opp, guess, width, stop)
        return self._converge(own, opp, guess, ALL_MOVES, stop)

    def _values_within(
        self, own: Words, opp: Words, lowest: Words, highest: Words, expected: Words, stop: StopFlag
    ) -> Words:
        self._searches += 1
        values, limits = np.empty_like(own), (lowest, highest, expected)
        find_values = compile_values_within(self.game.rules, self._turning)
        find_values(
            own, opp, *limits, self._searches, self._table, self._learned, make_threads(1, stop), self._counts, values
        )
        if stop[STOP]:
            raise StoppedError
        return values

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

    def _empties(self, own: int, opp: int) -> int:
        return (self._turning.board & ~(own | opp) & ALL_BITS).bit_count()

    def _ask(self, own: int, opp: int, bound: int, width: int, stop: StopFlag) -> int:
        is_shared = width == ALL_MOVES and self._empties(own, opp) >= THREADS_FROM
        count = self.num_threads if is_shared else 1
        question, threads = (own, opp, bound, self._searches, width), make_threads(count, stop)
        # Each thread counts from here on.
        visited, every = self.visited, [self._counts, *(self._counts.copy() for _ in range(count - 1))]

        def ask(counts: Counts) -> int | None:
            value = self._null_window_search(*question, self._table, self._learned, threads, counts)
            return None if value == NO_VALUE else value

        value = search_together([partial(ask, counts) for counts in every])
        self._work[0] += sum(int(counts["visited"][0]) - visited for counts in every[1:])
        if stop[STOP]:
            raise StoppedError
        assert value is not None, "only a stop keeps all threads from finding the value"
        return value

    def _is_at_most(self, value: int, own: int, opp: int, stop: StopFlag) -> bool:
        return self._ask(own, opp, value, ALL_MOVES, stop) <= value
