"""The worked table of an article, as a game of two plies: values, and positions visited."""

import pytest
import torch

from selfplay.compute.bit_algebra import rule
from selfplay.games.game import Game
from selfplay.games.rules import Rules
from selfplay.search.feature_evaluation import FeatureEvaluation
from selfplay.search.searcher import Searcher

PAYOFFS = ((3, -2, 2), (-1, 0, 4), (-4, -3, 1))
"""To the first player, who chooses the row; the second one then chooses the column."""


@rule
def _legal(own, opp):
    return 7 * ((own < 4) * 1)


@rule
def _play(own, opp, move):
    chosen = 1 * (move > 1) + 1 * (move > 2)
    at_start = (own == 0) * 1
    return at_start * (1 + chosen) + (1 - at_start) * (4 + 3 * (own - 1) + chosen), opp


@rule
def _is_terminal(own, opp):
    return own >= 4


@rule
def _return_to_move(own, opp):
    return own * 0


@rule
def _margin(own, opp):
    """Rows of the table are 3 words apart, starting at word 4."""
    return (
        3 * ((own == 4) * 1)
        - 2 * ((own == 5) * 1)
        + 2 * ((own == 6) * 1)
        - 1 * ((own == 7) * 1)
        + 4 * ((own == 9) * 1)
        - 4 * ((own == 10) * 1)
        - 3 * ((own == 11) * 1)
        + 1 * ((own == 12) * 1)
    )


class TableGame(Game):
    """Rows A1 to A3 for the first player, then columns B1 to B3 for the second."""

    name, num_distinct_actions, observation_shape, max_game_length = "table", 3, (13,), 2
    rules = Rules((0, 0), _legal, _play, _is_terminal, _return_to_move, lambda own, opp, index: index * 0, _margin)

    def action_to_string(self, action):
        return str(action + 1)

    def string_to_action(self, text):
        return int(text) - 1


@pytest.mark.parametrize(("algorithm", "visited"), [("minimax", 13), ("alpha_beta", 11), ("negascout", 11)])
def test_the_worked_table_of_the_article(algorithm, visited):
    #      B1 B2 B3
    # A1   +3 -2 +2    the least is -2
    # A2   -1  0 +4    the least is -1: the best for the first player
    # A3   -4 -3 +1    once -4 is seen, the rest no longer matters
    # So close to the leaves NegaScout searches as alpha-beta does.
    game = TableGame()
    points = FeatureEvaluation("points", None, 0.0, 1.0, {})
    result = Searcher(game, points, algorithm, ordered=False, table_bits=0).search(game.init(), 2)
    assert result.value == -1
    assert result.action == 1
    assert result.principal_variation == (1, 0)
    assert result.visited == visited


def test_the_margin_of_the_table_game_is_the_table():
    words = torch.arange(4, 13)
    assert [int(_margin(word, 0)) for word in words] == [number for row in PAYOFFS for number in row]
