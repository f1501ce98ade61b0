"""Judges the actions of a player by the exact values of the game's solver, many positions at a time.

The worth of a position is its exact value for the player, with two exceptions: all wins are worth 1, and if the start
of the walk is won or drawn for the player, all losses are worth -1. A mistake is an action that lowers the worth.
"""

from typing import NamedTuple

import numpy as np
import torch
from numpy.typing import NDArray

from selfplay.compute.compilation import Words
from selfplay.compute.positions import Packed
from selfplay.compute.random_numbers import Draws
from selfplay.players.capabilities import SolvesExactly, capability
from selfplay.players.player import Player, policy_of
from selfplay.search.exact_solver import WIN, ExactSolver


class Positions(NamedTuple):
    """N positions of a match that is not over, with the examined player to move."""

    position: Packed
    """int64[N, W]: the positions, packed."""
    are_won: NDArray[np.bool_]
    """bool[N]: whether the position is known to be won for the player."""
    lowest: int
    """The lowest worth of a position: -1 if losses do not differ, otherwise EVERY_LOSS."""
    seat: int
    """The seat of the player: 0 if it moved first in the match."""


class Judged(NamedTuple):
    """What the player does in N positions: E actions, one in each position unless it plays at random."""

    solved: NDArray[np.bool_]
    """bool[N]: positions that the player itself solves exactly; they have no actions here."""
    rows: Words
    """int64[E]: the position of each action, in ascending order."""
    actions: Words
    """int64[E]"""
    worth: Words
    """int64[E]: the worth of the position before the action."""
    are_mistakes: NDArray[np.bool_]
    """bool[E]"""


def judge(positions: Positions, player: Player, solver: ExactSolver, *, walk_solved: bool = False) -> Judged:
    """The actions of the player in these positions. Raises NotNowError if it only plays matches.

    Args:
        solver: the exact solver of the game.
        walk_solved: whether to judge the player also where it solves positions exactly itself.
    """
    game = solver.game
    state = game.state_at(torch.from_numpy(positions.position))
    state = state._replace(current_player=torch.full_like(state.current_player, positions.seat))
    # A player that explores may also take other actions than the best ones of a position that it solves.
    explores = player.explores(Draws(0, torch.zeros(state.batch_size, dtype=torch.int64), 0)) is not None
    solving, solved = capability(player, SolvesExactly), torch.zeros_like(state.terminated)
    if not walk_solved and not explores and solving is not None:
        solved = solving.solves(state)
    open_rows = (~solved).nonzero()[:, 0]
    state = state.select(open_rows)
    unknown = ~positions.are_won[open_rows.numpy()]
    bounds = (np.full(int(unknown.sum()), bound, dtype=np.int64) for bound in (positions.lowest, WIN))
    worth = np.full(len(unknown), WIN, dtype=np.int64)
    worth[unknown] = solver.values_within(state.select(torch.from_numpy(unknown)), *bounds)
    rows, actions = (policy_of(player, state) > 0).nonzero(as_tuple=True)
    after = game.step_unchecked(state.select(rows), actions)
    promised = worth[rows.numpy()]
    # Where nothing can be lost, no action is a mistake.
    asked = promised > positions.lowest
    are_mistakes = np.zeros(len(promised), dtype=np.bool_)
    kept = -promised[asked]
    are_mistakes[asked] = solver.values_within(after.select(torch.from_numpy(asked)), kept, kept + 1) > kept
    return Judged(solved.numpy(), open_rows[rows].numpy(), actions.numpy(), promised, are_mistakes)
