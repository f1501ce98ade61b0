"""Perfect play: from the values of all positions in games that can be enumerated, else by an exact solver."""

from contextlib import suppress
from copy import copy
from functools import partial
from typing import Generic, Literal, Self, TypeVar

import numpy as np
import torch
from numpy.typing import NDArray
from torch import Tensor

from selfplay.compute.made_once import MadeOnce
from selfplay.compute.random_numbers import Draws
from selfplay.errors import GameTooLargeError, TimeLimitError
from selfplay.games.distinct_positions import distinct_positions
from selfplay.games.game import Game
from selfplay.games.position_graph import PositionGraph, enumerate_positions, perfect_values
from selfplay.games.state import State
from selfplay.players.best_value import BestValuePlayer, GraphPlayer
from selfplay.players.player import ActionValues
from selfplay.search.deadline import Deadline, current_deadline
from selfplay.search.exact_solver import ExactSolver, empties, make_exact_solver, solver_class, solves_whole_matches
from selfplay.search.prover import RESULT_TEXTS, ResultSolver
from selfplay.search.shared_solver import SharedSolver, Solving

TABLE_BITS = 22
"""The size of the table of a player that solves whole matches."""


Solver = TypeVar("Solver", ExactSolver, SharedSolver)

ValueKind = Literal["results", "scores", "points"]
"""What the values of perfect play are: the results 1, 0 and -1; scores, which are higher for sooner wins and later
losses; or the points by which the match is won."""


class SolverPlayer(BestValuePlayer, Generic[Solver]):
    """Takes an action with the best exact value: in Connect Four the soonest win or the latest loss.

    It never takes an action before it knows the values of all actions. Use it in one thread at a time, unless its
    solver is a SharedSolver.

    Args:
        ties: which of several best actions is taken: "random", each equally likely, or "lowest".
        time_limit: seconds for the values of the actions of a position; None for no limit.

    Raises:
        SettingError: `ties` is neither of these.
    """

    name = "perfect"

    def __init__(self, solver: Solver, ties: str = "random", time_limit: float | None = None) -> None:
        super().__init__(ties)
        self.solver: Solver = solver
        self.game, self.time_limit = solver.game, time_limit

    def _values(self, state: State) -> NDArray[np.float64]:
        """Raises TimeLimitError."""
        first_rows, inverse = distinct_positions(state.position)
        distinct = state.select(first_rows)
        values: NDArray[np.float64] = np.full((distinct.batch_size, self.game.num_distinct_actions), np.nan)
        for row in range(distinct.batch_size):
            for action, value in self.solver.action_values(distinct, row, time_limit=self.time_limit).items():
                values[row, action] = value
        every: NDArray[np.float64] = values[inverse.numpy()]
        return every

    def value_actions(self, state: State, draws: Draws | None = None) -> ActionValues:
        return ActionValues(self.action_values(state), is_exact=self.solves(state))

    def solves(self, state: State) -> Tensor:
        """bool[B]: always true."""
        return torch.ones(state.batch_size, dtype=torch.bool)

    def value_text(self, value: float, state: State, row: int = 0) -> str:
        """The value of an action in match `row` of `state`, in words."""
        return self.solver.value_text(round(value), state, row)

    def with_time_limit(self, seconds: float | None) -> Self:
        """The same player, which raises TimeLimitError if it does not know the values after `seconds`."""
        limited = copy(self)
        limited.time_limit = seconds
        return limited


class SharedSolverPlayer(SolverPlayer[SharedSolver]):
    """Perfect play for several threads, with the values known so far while a position is being solved."""

    def __init__(self, solver: SharedSolver) -> None:
        super().__init__(solver)
        # Most requests are for the first position, which takes longer than the following ones.
        solver.ask(solver.game.init())
        self.value_kind: ValueKind = "points" if solver_class(solver.game).counts_points else "scores"

    def ask(self, state: State) -> Solving:
        """The values of the actions of a position (B = 1) that are known; the others are computed in the background."""
        return self.solver.ask(state)


SOLVED_AT_ONCE = 100_000
"""The largest number of positions that are enumerated while a person waits; this takes about a second."""


class PerfectPlayer(GraphPlayer):
    """Takes one of the actions that keep the perfect value of the position. Values are returns in {-1, 0, 1}.

    Examples:
        >>> player = selfplay.PerfectPlayer(selfplay.enumerate_positions("tictactoe"))
        >>> state = player.game.state_after(["0,0", "1,1", "0,1"])
        >>> player.action_values(state).tolist()  # X threatens to complete the top row
        [[nan, nan, 0.0, -1.0, nan, -1.0, -1.0, -1.0, -1.0]]
    """

    name = "perfect"
    value_kind: ValueKind = "results"

    def __init__(self, graph: PositionGraph | Game | str, ties: str = "random") -> None:
        super().__init__(graph, ties)
        self._perfect = perfect_values(self.graph)

    def values_of_children(self, numbers: NDArray[np.int64], to_move: NDArray[np.int8]) -> NDArray[np.float64]:
        return self.graph.values_of_children(self._perfect, numbers) + 0.0

    def value_text(self, value: float, state: State, row: int = 0) -> str:
        """The value of an action in match `row` of `state`, in words."""
        return RESULT_TEXTS[value]

    def ask(self, state: State) -> Solving:
        """The values of the actions of a position (B = 1), in the same form as those of a solver."""
        solving = Solving(state)
        values = self._values(state)[0]
        solving.values = {int(action): int(values[action]) for action in np.flatnonzero(~np.isnan(values))}
        solving.finished.set_result(None)
        return solving

    def with_time_limit(self, seconds: float | None) -> Self:
        """This player, which never needs time."""
        return self


AnyPerfectPlayer = PerfectPlayer | SharedSolverPlayer

MOST_GAMES = 64
"""Number of games whose perfect play is kept; more than the program has."""

_perfect_players = MadeOnce[AnyPerfectPlayer | None](MOST_GAMES)


def perfect_player_of(game: Game) -> AnyPerfectPlayer | None:
    """Perfect play of `game`, made once per process. Several threads may use it.

    None if the game has more than SOLVED_AT_ONCE positions and no exact solver that reaches its start.
    """
    return _perfect_players.get(game.identity, partial(_perfect_player, game))


def _perfect_player(game: Game) -> AnyPerfectPlayer | None:
    if solves_whole_matches(game):
        return SharedSolverPlayer(_shared_solver(game))
    try:
        return PerfectPlayer(enumerate_positions(game, SOLVED_AT_ONCE))
    except GameTooLargeError:
        return None


def whole_game_solver_player(game: Game, ties: str = "random") -> SolverPlayer[ExactSolver] | None:
    """Perfect play by the exact solver of `game`; None if it has none, or one that solves only the ends of matches."""
    return SolverPlayer(make_exact_solver(game, TABLE_BITS), ties) if solves_whole_matches(game) else None


def _shared_solver(game: Game) -> SharedSolver:
    return SharedSolver(game, partial(make_exact_solver, game))


ENDGAME_EMPTIES, ENDGAME_SECONDS = 14, 0.3
"""With at most this number of empty squares, a position of Othello is solved in less time, once its solver is
compiled."""
COMPILING_SECONDS = 60.0
"""How long the first position may take, with which the solver is compiled."""


class EndgamePlayer(SolverPlayer[SharedSolver]):
    """Perfect play near the end of matches, in a game whose exact solver does not reach their start."""

    name = "perfect play"

    def __init__(self, solver: SharedSolver, time_limit: float | None = None) -> None:
        super().__init__(solver, time_limit=time_limit)
        self._is_compiled = False

    def _values(self, state: State) -> NDArray[np.float64]:
        if not self._is_compiled:
            with current_deadline().paused(), Deadline(COMPILING_SECONDS).applied(), suppress(TimeLimitError):
                self.solver.action_values(state)
            self._is_compiled = True
        return super()._values(state)

    def solves(self, state: State) -> Tensor:
        """bool[B]: whether a position has few enough empty squares."""
        return empties(self.game, state) <= ENDGAME_EMPTIES


_endgame_players = MadeOnce[EndgamePlayer](MOST_GAMES)


def endgame_player(game: Game, state: State) -> EndgamePlayer | None:
    """The player that plays an unfinished position (B = 1) near the end perfectly.

    It is made once per process, for all threads. None in other positions, and in games that `perfect_player_of` solves
    or that have no exact solver. If its values take longer than ENDGAME_SECONDS, compiling not counted, they
    raise NotSolvedYetError.
    """
    if game.exact_solver is None or bool(state.terminated):
        return None
    if game.identity not in _endgame_players and solves_whole_matches(game):
        return None
    player = _endgame_players.get(
        game.identity, lambda: EndgamePlayer(_shared_solver(game), time_limit=ENDGAME_SECONDS)
    )
    return player if bool(player.solves(state)) else None


LONGEST_SOLVED = 26
"""Matches of at most this number of plies are solved in the background: Hex 5x5 after one move in half a minute, after
four in seconds."""
_background_solvers = MadeOnce[SharedSolver](MOST_GAMES)


def background_solver(game: Game) -> SharedSolver | None:
    """Finds the results of all actions of a position, for some seconds after it was asked for, in all threads.

    It is made once per process. None if `perfect_player_of` solves the game, which it then does at once, or if matches
    are long or have an exact solver.
    """
    if game.exact_solver is not None or game.max_game_length > LONGEST_SOLVED or perfect_player_of(game) is not None:
        return None
    return _background_solvers.get(game.identity, lambda: SharedSolver(game, partial(ResultSolver, game)))


def is_found_out(game: Game) -> bool:
    """Whether `perfect_player_of` returns at once because it has been called for this game."""
    return game.identity in _perfect_players
