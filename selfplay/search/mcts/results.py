"""What tree searches are given besides positions, and what they find, as arrays for compiled code."""

from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray


class Plan(NamedTuple):
    """What is the same for all trees of a search."""

    simulations: int
    proves: bool
    """Whether exact values are proved (MCTS-solver)."""
    finished: NDArray[np.float64]
    """float64[2], the third argument of `selfplay.search.evaluation.finished_value`."""
    has_kept: bool
    """Whether trees that are not empty are continued."""


class Results(NamedTuple):
    """The results of B searches."""

    visits: NDArray[np.int64]
    """int64[B, A]: the number of simulations through each action."""
    values: NDArray[np.float64]
    """float64[B, A]: the value of each action to the player to move; nan where unknown or illegal."""
    policy: NDArray[np.float64]
    """float64[B, A]: the improved policy; 0 where illegal. The rows of finished matches are 0."""
    actions: NDArray[np.int64]
    """int64[B]: the action to play; 0 where the match is over."""
    value: NDArray[np.float64]
    """float64[B]: the value of the position to the player to move: the mean of its evaluation and of all simulations,
    or the exact value if it is proved."""
    is_proved: NDArray[np.bool_]
    """bool[B]: whether `value` is exact."""


def make_results(batch_size: int, num_actions: int) -> Results:
    """Results with nothing found yet."""
    visits, values = np.zeros((batch_size, num_actions), dtype=np.int64), np.full((batch_size, num_actions), np.nan)
    policy, actions = np.zeros((batch_size, num_actions)), np.zeros(batch_size, dtype=np.int64)
    return Results(visits, values, policy, actions, np.zeros(batch_size), np.zeros(batch_size, dtype=np.bool_))
