"""The exact value of positions near the end of a match, and of every action there.

    solver = EndgameSolver(make_game("othello"))
    solver.solve(state).value

The first guess of the value, which decides how many null-window searches are needed (see `kernel`), comes from the same
search with few moves tried.
"""

import numpy as np

from selfplay.compute.compilation import Words
from selfplay.compute.positions import Packed
from selfplay.errors import SettingError
from selfplay.games.game import Game
from selfplay.games.state import State
from selfplay.search.endgame.kernel import ALL_MOVES, GUESS_DOWN_TO, compile_values_within
from selfplay.search.endgame.last_squares import Count
from selfplay.search.endgame.move_ordering import NO_LEARNED_VALUES, learned_values_of
from selfplay.search.endgame.table import make_endgame_table
from selfplay.search.exact_solver import ExactSolver, check_table_bits
from selfplay.search.threads import StopFlag, Threads, make_progress, search_together

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
        board = game.turning_rules.board
        if int(game.rules.return_to_move(game.rules.position(board, 0))) != 1:
            raise SettingError(f"{game!r}: endgames are solved for the player with more discs; set exact_solver = None")
        check_table_bits(table_bits, 1)
        super().__init__(game, make_progress(*Count.__annotations__))
        self._progress["empties_to_winner"] = empties_to_winner
        self._turning, self._table = game.turning_rules, make_endgame_table(table_bits)
        self._search_batch = compile_values_within(game.compiled_rules, game.turning_rules)
        self._searches, self._learned = 0, NO_LEARNED_VALUES

    def value_text(self, value: int, state: State, row: int = 0) -> str:
        if value == 0:
            return "draws"
        return f"wins by {value}" if value > 0 else f"loses by {-value}"

    def _value(self, position: Packed, stop: StopFlag) -> int:
        empties, most = self._empties(position), self._turning.board.bit_count()
        if empties >= LEARNED_VALUES_FROM:
            # Also for all later positions, because usually the following positions are solved next.
            self._learned = learned_values_of(self.game.name)
        lowest, highest, guess = np.array([[-most], [most], [0]], dtype=np.int64)
        for width in (*GUESS_WIDTHS, ALL_MOVES) if empties >= GUESS_FROM else (ALL_MOVES,):
            guess = self._values_within(position, lowest, highest, guess, stop, width)
        return int(guess[0])

    def _values_within(
        self,
        positions: Packed,
        lowest: Words,
        highest: Words,
        expected: Words,
        stop: StopFlag,
        width: int = ALL_MOVES,
    ) -> Words:
        self._searches += 1
        is_long = width == ALL_MOVES and len(positions) == 1 and self._empties(positions) >= THREADS_FROM
        before, visited = self.visited, list[int]()

        def search(threads: Threads) -> Words | None:
            progress, values = self._progress.copy(), np.empty_like(lowest)
            searching = self._searches, width, self._table, self._learned, threads, progress
            is_found = self._search_batch(positions, lowest, highest, expected, *searching, values)
            visited.append(int(progress["visited"][0]) - before)
            return values if is_found else None

        try:
            return search_together(search, self.num_threads if is_long else 1, stop)
        finally:
            self._progress["visited"] = before + sum(visited)

    def _empties(self, position: Packed) -> int:
        own, opp = position[0].tolist()
        return int((self._turning.board & ~(own | opp)).bit_count())
