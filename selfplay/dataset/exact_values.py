"""Exact values of late positions, which replace what followed in the match as targets."""

from collections.abc import Callable
from functools import cache

import numpy as np
import torch
from torch import Tensor

from selfplay.errors import SettingError
from selfplay.games.game import Game
from selfplay.games.match_outcome import Outcome
from selfplay.games.match_record import MATCH_OVER, MatchRecord
from selfplay.games.state import State
from selfplay.search.exact_solver import ExactSolver, make_exact_solver

TABLE_BITS = 20
solver_of: Callable[[Game], ExactSolver] = cache(lambda game: make_exact_solver(game, TABLE_BITS))
"""The solver of a game, whose table is kept from batch to batch. It changes no value."""


def check_exact_values(game: Game, outcome: Outcome) -> None:
    """Raise SettingError if the game has no exact solver, or its values do not give the outcome."""
    point = outcome(game).point
    if point:
        raise SettingError("exact_from needs outcome=return: exact values are wins, draws and losses")
    if game.exact_solver is None:
        raise SettingError(f"exact_from: {game.name} has no exact solver; set exact_from=null")


def exact_values(game: Game, record: MatchRecord, exact_from: int, outcome: Outcome) -> list[Tensor]:
    """float32[B] for each ply: the exact value of the position before it to the player to move.

    nan where more than `exact_from` squares are empty, or the match is over.

    Raises SettingError as `check_exact_values`.
    """
    check_exact_values(game, outcome)
    solver, win = solver_of(game), outcome(game).win
    found = [torch.full(action.shape, torch.nan) for action in record.actions]
    # The last plies first: their values, which the table keeps, help to solve the earlier ones.
    for ply in reversed(range(len(found))):
        state = record.states[ply]
        is_late = (record.actions[ply] != MATCH_OVER) & (solver.empties(state) <= exact_from)
        rows = is_late.nonzero()[:, 0]
        if len(rows):
            found[ply][rows] = win * _results(solver, state.select(rows))
    return found


def _results(solver: ExactSolver, state: State) -> Tensor:
    """float32[B]: 1 if the player to move wins, 0 for a draw, -1 for a loss."""
    bound = np.ones(state.batch_size, dtype=np.int64)
    return torch.from_numpy(np.sign(solver.values_within(state, -bound, bound))).to(torch.float32)
