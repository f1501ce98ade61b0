"""Counted results of matches between two players."""

from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.games import make_game
from selfplay.games.position_graph import enumerate_positions
from selfplay.grading.proof import Grader
from selfplay.matches.pair_results import count_matches
from selfplay.players.random import RandomPlayer
from tests.grading.test_proof import lowest_action_player


def test_distinct_matches_are_counted_by_actions_and_seats() -> None:
    game = make_game("tictactoe")
    player = lowest_action_player(Grader(enumerate_positions(game)))
    result = count_matches(game, (player, lowest_action_player(Grader(enumerate_positions(game)))), 50, 1, 16)
    # Both play the lowest action: X takes 0, 2, 4, 6 and wins on the diagonal; once in either seat.
    assert result == ((25, 0, 25), 2, 0, 0)
    key = stream_key(0, 0, Activity.VERSUS_RANDOM)
    random = count_matches(game, (RandomPlayer(game), RandomPlayer(game)), 3000, key, 1000)
    assert random.results.matches == 3000
    assert 2500 < random.distinct <= 3000
