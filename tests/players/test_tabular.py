"""The tabular player: it reads the table of the player to move, and breaks ties as its rule does."""

import numpy as np
import torch

from selfplay.compute.random_numbers import Draws
from selfplay.games import make_game
from selfplay.games.position_graph import positions_of
from selfplay.learners.tabular.learning import BACKWARD_VALUE, TEMPORAL_DIFFERENCE, initial_values, learn_matches
from selfplay.matches.arena import play_matches
from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer
from selfplay.players.tabular import TabularPlayer

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


def test_the_initial_values_distinguish_won_from_lost_boards():
    won_by_x = number_of("0,0", "1,0", "0,1", "1,1", "0,2")
    drawn = number_of("0,0", "0,1", "0,2", "1,1", "1,0", "1,2", "2,1", "2,0", "2,2")
    for rule, draw_value in ((BACKWARD_VALUE, 0.0), (TEMPORAL_DIFFERENCE, 0.5)):
        values = initial_values(GRAPH, rule)
        assert values[:, 1, won_by_x].tolist() == [1, 0]
        assert values[:, 1, drawn].tolist() == [draw_value, draw_value]
        assert (values[:, :, ~GRAPH.terminated] == 0.5).all()


def test_ties_go_to_the_lowest_action_or_to_each_equally_often():
    values = initial_values(GRAPH, TEMPORAL_DIFFERENCE)
    start, draws = GAME.init(9000), Draws(KEY, torch.arange(9000), 0)
    assert (TabularPlayer(GRAPH, values, "lowest").act(start, draws) == 0).all()
    counts = np.bincount(TabularPlayer(GRAPH, values, "random").act(start, draws), minlength=9)
    assert (abs(counts - 1000) < 5 * 1000**0.5).all()


def test_in_the_arena_it_makes_the_moves_of_the_training_loop():
    """With a step size of 0 no table changes, so both ways must play the same matches."""
    for rule, epsilon in ((BACKWARD_VALUE, 0.3), (TEMPORAL_DIFFERENCE, 0.1)):
        values = initial_values(GRAPH, rule)
        counts = list(learn_matches(GRAPH, values, rule, matches=400, step_size=0.0, epsilon=epsilon, key=KEY))[-1]
        player = EpsilonGreedyPlayer(GAME, TabularPlayer(GRAPH, values, rule.ties), [epsilon])
        record = next(play_matches(GAME, (player, player), range(400), KEY, alternate=False))
        returns = record.returns()
        assert counts == tuple(int((returns == value).sum()) for value in (1, 0, -1))


def test_it_plays_games_in_which_both_players_meet_the_same_positions():
    graph = positions_of("sumto100")
    values = np.zeros((2, 2, len(graph)))
    sums = graph.game.presentation.position_line.place(graph.state)
    ten, five = (int((sums == total).nonzero()) for total in (10, 5))
    values[0, 1, ten] = values[1, 0, five] = 1
    player, game = TabularPlayer(graph, values), make_game("sumto100")
    start = game.init()
    assert game.action_to_string(int(player.act(start, Draws(1, torch.tensor([0]), 0)))) == "10"
    second = start._replace(current_player=torch.tensor([1], dtype=torch.int8))
    assert game.action_to_string(int(player.act(second, Draws(1, torch.tensor([0]), 0)))) == "5"
