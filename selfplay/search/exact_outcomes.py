"""The outcomes of positions near the end of a match, found by exact solvers, for learning."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from selfplay.checks import require
from selfplay.compute.compilation import Words
from selfplay.errors import SettingError
from selfplay.games.game import Game
from selfplay.games.outcomes import Outcome
from selfplay.games.state import State
from selfplay.search.exact_solver import ExactSolver, solver_class


def require_exact_outcomes(game: Game, outcome: Outcome, exact_from: int) -> None:
    """Raise SettingError if no exact solver finds these outcomes of positions with `exact_from` empty squares."""
    if game.exact_solver is None:
        raise SettingError(f"exact_from: {game.name} has no exact solver; set exact_from=null")
    solver = solver_class(game)
    if outcome(game)[1] and not solver.counts_points:
        raise SettingError(f"exact_from: the exact solver of {game.name} does not count points; set outcome=return")
    require("exact_from", exact_from, exact_from <= solver.practical_empties, f"from 1 to {solver.practical_empties}")


def exact_outcomes(
    solver: ExactSolver, state: State, guesses: Words, outcome: Sequence[float] | NDArray[np.float64]
) -> tuple[Words, NDArray[np.float64]]:
    """Exact values of positions to the player to move: as the solver counts (int64[B]), and as outcomes (float64[B]).

    In Othello, squares that are empty at the end count for the winner here; in matches only discs count.

    Args:
        guesses: int64[B], of the values as the solver counts: good ones save time.
        outcome: the result of an `Outcome`.
    """
    win, point = outcome
    bound = np.full_like(guesses, solver.game.num_squares if point else 1)
    values = solver.values_within(state, -bound, bound, guesses)
    return values, win * np.sign(values) + point * values
