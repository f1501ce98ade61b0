"""The order in which the searches try moves, by the compiled functions run as Python."""

import numpy as np

from selfplay.games import make_game
from selfplay.search.feature_evaluation import make_evaluation
from selfplay.search.move_ordering import MIN_VALUE_DEPTH, compile_order

OTHELLO, CONNECT_FOUR = make_game("othello"), make_game("connect_four")


def in_order(game, name, moves, left=MIN_VALUE_DEPTH, first_move=0):
    """The actions in the order in which they are tried after these moves, with `left` plies left to search."""
    evaluation = make_evaluation(name, game)
    list_moves = compile_order(game.rules, evaluation.unfinished_value(game))
    context = (evaluation.reply_value, evaluation.parameters(game))
    state, found, ranks = game.state_after(moves), np.zeros(64, dtype=np.int64), np.zeros(64)
    own, opp = state.own.numpy()[0], state.opp.numpy()[0]  # they wrap around, as compiled ones do
    with np.errstate(over="ignore"):
        bits = game.rules.legal_actions(own, opp)
        count = list_moves(own, opp, bits, np.int64(first_move), left, context, found, ranks)
    return [int(move).bit_length() - 1 for move in found[:count].tolist()]


def test_moves_are_ordered_by_the_value_of_the_next_position_to_the_opponent():
    # White's d3 (19), f5... after 1. f5: each turns one disc; discs alone are equal, so replies decide.
    f5 = OTHELLO.state_after(["f5"])
    following = {}
    for action in OTHELLO.legal_action_mask(f5)[0].nonzero()[:, 0].tolist():
        after = OTHELLO.state_after(["f5", OTHELLO.action_to_string(action)])
        following[action] = int(OTHELLO.legal_action_mask(after).sum())
    expected = sorted(following, key=lambda action: (following[action], action))
    assert in_order(OTHELLO, "none", ["f5"]) == expected
    assert in_order(OTHELLO, "none", ["f5"], left=2) == expected


def test_a_win_at_once_comes_before_all_other_moves():
    # X has three stones in column 1 and wins there; the evaluation knows nothing of this.
    assert in_order(CONNECT_FOUR, "none", ["1", "2", "1", "2", "1", "2"])[0] % 7 == 0
