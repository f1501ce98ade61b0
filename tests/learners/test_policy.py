"""Learning a policy: who plays the matches."""

import pytest
import torch

from selfplay import LevelInputs, Policy, Resources, make_game, make_player
from selfplay.errors import SettingError

GAME = make_game("tictactoe")


def resources(game=GAME):
    return Resources(make_player=lambda name, itself: make_player(name, game, itself=itself))


def policies(learner):
    """float64[N, 9]: the policies of the matches of level 0, where several actions have a probability."""
    (rows,) = learner.generate(LevelInputs(GAME, resources=resources()), range(20))
    several = (rows.policy > 0).sum(1) > 1
    return torch.as_tensor(rows.policy[several])


def test_level_0_plays_at_random_or_as_the_named_search():
    at_random = policies(Policy())
    assert torch.equal(at_random.amax(1), 1 / (at_random > 0).sum(1))
    searched = policies(Policy(self_play="mcts:rollouts?simulations=200&temperature=1"))
    assert (searched.amax(1) > 1.5 / (searched > 0).sum(1)).any()


def test_a_player_that_does_not_search_trees_is_refused():
    with pytest.raises(SettingError, match="self_play=perfect: finds no policies"):
        policies(Policy(self_play="perfect"))
