"""Walks with a search as expert: the lines that they follow, and mistakes that are corrected."""

from dataclasses import replace

import numpy as np
import pytest
import torch

from selfplay.architectures import build_network
from selfplay.architectures.ntuple import with_phases
from selfplay.games import make_game
from selfplay.named_players.make import make_player
from selfplay.players.search import SearchPlayer
from selfplay.training.corrections import Corrections, LikelyReplies
from selfplay.training.lessons import SearchExpert
from selfplay.training.parameters import ExpertIteration

GAME = make_game("tictactoe")
EVERYTHING = ExpertIteration(reply_depth=9, slack=2, noise=0)


def walked(parameters, seat="first"):
    """The walk of new tables with an expert that sees every end of the match, and its plies."""
    architecture = {"name": "ntuple", "walks": 20, "walk_length": 4, "symmetries": "none", "parities": True}
    network = build_network(architecture, GAME.observation_shape, GAME.num_distinct_actions)
    with torch.no_grad():
        network.weight.copy_(0.1 * torch.randn(network.weight.shape, generator=torch.Generator().manual_seed(1)))
    network, _ = with_phases(network, architecture)
    player = make_player("search:negascout?depth=9&evaluation=none", GAME)
    assert isinstance(player, SearchPlayer)
    expert = SearchExpert([player.searcher], 9, 0.0)
    replies = None if parameters is None else LikelyReplies(expert, 5, parameters)
    walk = Corrections(GAME, network, expert, GAME.init(), 5, seat=seat, replies=replies)
    return walk, list(walk.plies())


def positions(walk):
    """The positions of each ply of the player in the walk."""
    return {ply: set(map(tuple, lessons.position.tolist())) for ply, lessons in walk.lessons.items()}


@pytest.mark.parametrize("seat", ["first", "second"])
def test_all_replies_are_followed_if_there_is_room_and_slack(seat):
    every, plies = walked(None, seat)
    likely, of_likely = walked(EVERYTHING, seat)
    assert positions(likely) == positions(every)
    assert of_likely == plies
    assert any(corrected.mistakes[0] for corrected in plies)
    assert all(corrected.mistakes[-1] == 0 or corrected.avoided for corrected in plies)


def test_without_slack_only_best_replies_are_followed():
    walk, plies = walked(replace(EVERYTHING, slack=0))
    assert sum(corrected.positions for corrected in plies) < sum(one.positions for one in walked(None)[1])
    values = [lessons.worth for ply, lessons in walk.lessons.items() if ply > 0]
    # The player begins with a drawn match; only a mistake of the opponent would give it more.
    assert np.concatenate(values).max() <= 0


def test_the_positions_of_the_smallest_lags_are_walked():
    walk, plies = walked(replace(EVERYTHING, most_positions=3))
    assert max(corrected.positions for corrected in plies) == 3
    others = [positions(walked(replace(EVERYTHING, most_positions=3, noise=noise))[0]) for noise in (0, 2)]
    assert others[0] == positions(walk)
    assert others[1] != positions(walk)
