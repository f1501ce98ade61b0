"""The tabular player: it reads the table of the player to move, and breaks ties as its rule does."""

import numpy as np

from selfplay import play_matches
from selfplay.games.position_graph import positions_of
from selfplay.players.exploring import EpsilonGreedyPlayer
from selfplay.players.tabular import TabularPlayer
from selfplay.tabular.learning import BACKWARD_VALUE, TEMPORAL_DIFFERENCE, initial_values, learn_matches

GRAPH = positions_of("tictactoe")
GAME = GRAPH.game
KEY = 987654321


def number_of(*actions):
    return int(GRAPH.numbers(GAME.state_after(actions))[0])


def test_each_player_reads_its_own_table_with_the_other_to_move():
    values = np.zeros((2, 2, len(GRAPH)))
    after_x, after_o = number_of("1,1"), number_of("1,1", "0,2")
    values[0, 1, after_x], values[1, 0, after_o] = 0.75, 0.25
    # What a table says of the same board with the wrong player to move is never asked for.
    values[0, 0, after_x] = values[1, 1, after_o] = 1
    player = TabularPlayer(GRAPH, values)
    of_x, of_o = (player.action_values(GAME.state_after(actions))[0] for actions in ([], ["1,1"]))
    assert of_x.tolist() == [0, 0, 0, 0, 0.75, 0, 0, 0, 0]
    assert of_o.nan_to_num(nan=-1).tolist() == [0, 0, 0.25, 0, -1, 0, 0, 0, 0]


def test_in_the_arena_it_makes_the_moves_of_the_training_loop():
    """With a step size of 0 no table changes, so both ways must play the same matches."""
    for rule, epsilon in ((BACKWARD_VALUE, 0.3), (TEMPORAL_DIFFERENCE, 0.1)):
        values = initial_values(GRAPH, rule)
        counts = list(learn_matches(GRAPH, values, rule, matches=400, step_size=0.0, epsilon=epsilon, key=KEY))[-1]
        player = EpsilonGreedyPlayer(GAME, TabularPlayer(GRAPH, values, rule.ties), [epsilon])
        record = next(play_matches(GAME, (player, player), range(400), KEY, alternate=False))
        returns = record.returns()
        assert counts == tuple(int((returns == value).sum()) for value in (1, 0, -1))
