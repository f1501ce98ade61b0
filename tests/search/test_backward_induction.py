"""Perfect play in the games that can be enumerated."""

from functools import cache

import numpy as np
import torch

from selfplay.games.position_graph import optimal_actions, perfect_values, positions_of

LINES = [0o7, 0o70, 0o700, 0o111, 0o222, 0o444, 0o421, 0o124]


@cache
def negamax(own, opp):
    """Negamax without the library's rules."""
    if any(opp & line == line for line in LINES):
        return -1
    empty = [1 << square for square in range(9) if not (own | opp) >> square & 1]
    return max((-negamax(opp, own | move) for move in empty), default=0)


def test_every_position_of_tictactoe_has_the_value_that_plain_negamax_gives():
    graph = positions_of("tictactoe")
    values = perfect_values(graph)
    assert values.tolist() == [negamax(own, opp) for own, opp in graph.state.position.tolist()]


def test_the_losing_sums_are_1_12_and_on_to_89():
    graph = positions_of("sumto100")
    values = perfect_values(graph)
    lost = torch.from_numpy(values == -1) & ~graph.state.terminated
    assert sorted(graph.state.position[lost, 0].tolist()) == [1, 12, 23, 34, 45, 56, 67, 78, 89]
    assert set(values.tolist()) == {-1.0, 1.0}


def test_a_won_sum_has_one_optimal_action_which_leaves_a_losing_sum():
    graph = positions_of("sumto100")
    optimal = optimal_actions(graph, perfect_values(graph))
    for position, total in enumerate(graph.state.position[:, 0].tolist()):
        if total < 100 and total % 11 != 1:
            addend = (1 - total) % 11
            assert np.flatnonzero(optimal[position]).tolist() == [addend - 1]
