"""The exact values of late positions of matches, from the exact solver of the game."""

from functools import lru_cache

import numpy as np
import torch
from torch import Tensor

from selfplay.games.game import Game
from selfplay.games.outcomes import Outcome
from selfplay.games.state import MATCH_OVER, MatchRecord
from selfplay.search.exact_outcomes import exact_outcomes, require_exact_outcomes
from selfplay.search.exact_solver import ExactSolver, empties, make_exact_solver

TABLE_BITS = 20


@lru_cache(maxsize=1)
def solver_of(game: Game) -> ExactSolver:
    """The solver of a game. Its table is kept from batch to batch, which does not change any value.

    Only the last solver is kept: a table has 32 MB, and every shard of a run makes a new game.
    """
    return make_exact_solver(game, TABLE_BITS)


def has_exact_value(game: Game, record: MatchRecord, exact_from: int | None, ply: int) -> Tensor:
    """bool[B]: whether at most `exact_from` squares are empty before this ply; all False at the end and for None."""
    if exact_from is None or ply == len(record.actions):
        return torch.zeros_like(record.match, dtype=torch.bool)
    return (record.actions[ply] != MATCH_OVER) & (empties(game, record.states[ply]) <= exact_from)


def exact_values(game: Game, record: MatchRecord, outcome: Outcome, exact_from: int) -> list[Tensor]:
    """float32[B] for each ply: the exact value of the position before it to the player to move.

    nan where more than `exact_from` squares are empty, or the match is over.

    Raises SettingError if the game has no exact solver, or its values do not give the outcome.
    """
    require_exact_outcomes(game, outcome, exact_from)
    solver, values_of_ends = solver_of(game), outcome(game)
    found = [torch.full(action.shape, torch.nan) for action in record.actions]
    expected = np.zeros(len(record.match), dtype=np.int64)
    # The last plies first: their values, which the table keeps, help to solve the earlier ones.
    for ply in reversed(range(len(found))):
        state = record.states[ply]
        rows = has_exact_value(game, record, exact_from, ply).nonzero()[:, 0].numpy()
        if len(rows):
            late = state.select(torch.from_numpy(rows))
            expected[rows], outcomes = exact_outcomes(solver, late, -expected[rows], values_of_ends)
            found[ply][rows] = torch.from_numpy(outcomes).to(torch.float32)
    return found
