"""Exact values of late positions, which replace what followed in the match as targets."""

from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from selfplay.errors import SettingError
from selfplay.games.game import Game
from selfplay.games.match_outcome import Outcome
from selfplay.games.state import MATCH_OVER, MatchRecord
from selfplay.search.exact_solver import ExactSolver, empties, make_exact_solver, solver_class

TABLE_BITS = 20


@lru_cache(maxsize=1)
def solver_of(game: Game) -> ExactSolver:
    """The solver of a game, whose table is kept from batch to batch. It changes no value.

    Only the last one is kept: a table has 32 MB, and every shard of a run makes its game anew.
    """
    return make_exact_solver(game, TABLE_BITS)


def check_exact_values(game: Game, outcome: Outcome) -> None:
    """Raise SettingError if the game has no exact solver, or its values do not give the outcome."""
    if game.exact_solver is None:
        raise SettingError(f"exact_from: {game.name} has no exact solver; set exact_from=null")
    if outcome(game).point and not solver_class(game).counts_points:
        raise SettingError(f"exact_from: the exact solver of {game.name} does not count points; set outcome=return")


def exact_values(game: Game, record: MatchRecord, exact_from: int, outcome: Outcome) -> list[Tensor]:
    """float32[B] for each ply: the exact value of the position before it to the player to move.

    nan where more than `exact_from` squares are empty, or the match is over.

    Raises SettingError as `check_exact_values`.
    """
    check_exact_values(game, outcome)
    solver, (win, point) = solver_of(game), outcome(game)
    largest = game.num_squares if point and game.num_squares else 1
    found = [torch.full(action.shape, torch.nan) for action in record.actions]
    expected = np.zeros(len(record.match), dtype=np.int64)
    # The last plies first: their values, which the table keeps, help to solve the earlier ones.
    for ply in reversed(range(len(found))):
        state = record.states[ply]
        is_late = (record.actions[ply] != MATCH_OVER) & (empties(game, state) <= exact_from)
        rows = is_late.nonzero()[:, 0].numpy()
        if len(rows):
            bound = np.full(len(rows), largest, dtype=np.int64)
            values = solver.values_within(state.select(torch.from_numpy(rows)), -bound, bound, -expected[rows])
            expected[rows] = values
            found[ply][rows] = torch.from_numpy(win * np.sign(values) + point * values).to(torch.float32)
    return found
