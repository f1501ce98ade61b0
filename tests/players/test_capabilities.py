"""Capabilities of players, by themselves and inside wrappers."""

from selfplay.games import make_game
from selfplay.players.capabilities import (
    Explores,
    HasPolicy,
    LearnsFromMatches,
    PlaysOnDevice,
    ReportsStatus,
    ValuesActions,
    policy_of,
)
from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer
from selfplay.players.player import Player, PlayerWrapper
from selfplay.players.random import RandomPlayer
from tests.support.stub_players import FirstLegal, Learning, Valuing

GAME = make_game("tictactoe")


class OnlyActs(Player):
    name = "only acts"

    def act(self, state, draws):
        return FirstLegal(GAME).act(state, draws)


def test_a_player_has_the_capabilities_whose_methods_it_has() -> None:
    player = Learning(GAME)
    assert player.as_a(LearnsFromMatches) is player
    assert player.as_a(ReportsStatus) is player
    assert player.as_a(Explores) is None
    assert player.as_a(PlaysOnDevice) is None
    assert RandomPlayer(GAME).as_a(PlaysOnDevice) is not None


def test_a_wrapper_has_the_capabilities_of_the_inner_player_at_any_depth() -> None:
    learner = Learning(GAME)
    wrapper = PlayerWrapper(EpsilonGreedyPlayer(GAME, PlayerWrapper(learner), [0.5]))
    assert wrapper.name == "epsilon-greedy learning"
    assert wrapper.as_a(LearnsFromMatches) is learner
    assert wrapper.as_a(ValuesActions) is learner
    assert wrapper.as_a(Explores) is wrapper.player
    assert PlayerWrapper(learner).as_a(Explores) is None


def test_a_capability_that_a_wrapper_overrides_requires_the_inner_players() -> None:
    exploring = EpsilonGreedyPlayer(GAME, Valuing(GAME), [0.5])
    assert exploring.as_a(HasPolicy) is exploring
    assert policy_of(exploring, GAME.init())[0, 0] == 0.5 / 9
    assert EpsilonGreedyPlayer(GAME, OnlyActs(), [0.5]).as_a(HasPolicy) is None
