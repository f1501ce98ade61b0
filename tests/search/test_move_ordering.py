"""The order in which the searches try moves."""

from selfplay.games import make_game
from selfplay.named_players.evaluations import make_evaluation
from selfplay.search.action_order import MIN_VALUE_DEPTH
from selfplay.search.searcher import Searcher

OTHELLO, CONNECT_FOUR = make_game("othello"), make_game("connect_four")


def in_order(game, moves, depth):
    """The actions in the order in which a search tries them after these moves."""
    _, trace = Searcher(game, make_evaluation("none", game)).trace(game.state_after(moves), depth)
    return list(trace.visits[0].following)


def test_moves_are_ordered_by_the_value_of_the_next_position_to_the_opponent():
    # White's d3 (19), f5... after 1. f5: each turns one disc; discs alone are equal, so replies decide.
    f5 = OTHELLO.state_after(["f5"])
    following = {}
    for action in OTHELLO.legal_action_mask(f5)[0].nonzero()[:, 0].tolist():
        after = OTHELLO.state_after(["f5", OTHELLO.action_to_string(action)])
        following[action] = int(OTHELLO.legal_action_mask(after).sum())
    expected = sorted(following, key=lambda action: (following[action], action))
    assert in_order(OTHELLO, ["f5"], MIN_VALUE_DEPTH) == expected
    assert in_order(OTHELLO, ["f5"], 2) == expected


def test_a_win_at_once_comes_before_all_other_moves():
    # X has three stones in column 1 and wins there; the evaluation knows nothing of this.
    assert in_order(CONNECT_FOUR, ["1", "2", "1", "2", "1", "2"], MIN_VALUE_DEPTH)[0] % 7 == 0
