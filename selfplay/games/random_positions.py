"""Positions of random matches, in which what a game does not declare is found by trying; the same on every computer."""

from typing import NamedTuple

import torch
from torch import Tensor

from selfplay.compute.random_numbers import Activity, Draws, mix, stream_key
from selfplay.games.state import State, joined
from selfplay.games.stepping import BatchStepping

MOST_POSITIONS, MOST_MATCHES, FEWEST_MATCHES = 4096, 256, 16
MOST_SQUARES, MOST_MARKS = 1 << 18, 1 << 24
"""About the most squares, and entries of masks of actions, of all positions together."""
SQUARES_OF_MATCHES = 1 << 14


class RandomPositions(NamedTuple):
    """N positions of random matches in which the match is not over, in random order."""

    state: State
    mask: Tensor
    """bool[N, A]: their legal actions."""
    action: Tensor
    """int64[N]: the action that was taken."""
    following: State
    """The states after these actions."""

    def select(self, rows: Tensor) -> "RandomPositions":
        """The positions in these rows (int64)."""
        return RandomPositions(self.state.select(rows), self.mask[rows], self.action[rows], self.following.select(rows))


def random_positions(game: BatchStepping, max_game_length: int) -> RandomPositions:
    """Up to MOST_POSITIONS positions of up to MOST_MATCHES matches; fewer on large boards or with many actions.

    Raises RuleError if a rule fails.
    """
    bits = sum(place.bits for place in game.rules.position.places if place.is_board)
    matches = max(FEWEST_MATCHES, min(MOST_MATCHES, SQUARES_OF_MATCHES // max(1, bits)))
    state, numbers, plies = game.init(matches), torch.arange(matches), list[tuple[State, Tensor, State]]()
    for ply in range(max_game_length):
        going_on = ~state.terminated
        if not bool(going_on.any()):
            break
        state, numbers = state.select(going_on), numbers[going_on]
        action = game.kernels.random_actions(state, Draws(stream_key(0, 0, Activity.GENERATION), numbers, ply))
        following = game.kernels.step(state, action)
        plies.append((state, action, following))
        state = following
    states, actions, followings = zip(*plies, strict=True)
    most = min(MOST_POSITIONS, MOST_SQUARES // max(1, bits), MOST_MARKS // game.num_distinct_actions)
    action = torch.cat(actions)
    rows = mix(torch.arange(len(action))).argsort(stable=True)[: max(1, most)]
    before = joined(states).select(rows)
    mask = game.kernels.legal_action_mask(before, game.num_distinct_actions)
    return RandomPositions(before, mask, action[rows], joined(followings).select(rows))
