"""Values of searches as targets of the afterstates that they start from."""

import torch
from torch import Tensor

from selfplay.dataset.exact_values import exact_values_of
from selfplay.dataset.targets import PlayedMatches, discounted_outcomes, is_move
from selfplay.games.kernels import distinct_positions
from selfplay.games.state import State
from selfplay.players.capabilities import LooksAhead


def rootstrap_targets(played: PlayedMatches) -> Tensor:
    """float32[T, B]: the targets of the rule `rootstrap`."""
    record, exact = played.record, exact_values_of(played)
    looking = played.players[0].as_a(LooksAhead)
    if looking is None:
        return discounted_outcomes(played, exact)
    targets = torch.zeros(len(record.actions), len(record.match))
    for ply, action in enumerate(record.actions):
        to_mover = targets[ply]
        # The values of the position before the next ply, which is the afterstate of this one.
        if exact is not None and ply + 1 < len(exact):
            to_mover -= exact[ply + 1]
            unknown = exact[ply + 1].isnan()
        else:
            unknown = torch.ones_like(action, dtype=torch.bool)
        rows = (unknown & is_move(played.game, action)).nonzero()[:, 0]
        to_mover[rows] = -_searched(looking, record.states[ply + 1].select(rows), played.rootstrap_depth)
    return targets.clamp(-1, 1) + 0.0  # no -0.0


def _searched(looking: LooksAhead, state: State, depth: int) -> Tensor:
    first_rows, inverse = distinct_positions(state)
    return looking.values_ahead(state.select(first_rows), depth)[inverse]
