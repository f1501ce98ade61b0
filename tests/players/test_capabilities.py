"""What players can do besides acting, by themselves and inside wrappers."""

import pytest
import torch

from selfplay.compute.random_numbers import Draws
from selfplay.errors import NotNowError
from selfplay.games import make_game
from selfplay.players.capabilities import EvaluatesOnDevice, FollowsMatch, LearnsFromMatches, learners_among
from selfplay.players.epsilon_greedy import EpsilonGreedyPlayer
from selfplay.players.player import CheckedPlayer, Player, PlayerWrapper, policy_of
from selfplay.players.random import RandomPlayer
from selfplay.players.search import SearchPlayer
from selfplay.search.evaluation import FeatureEvaluation
from selfplay.search.searcher import Searcher
from tests.support.stub_players import FirstLegal, Learning, Valuing

GAME = make_game("tictactoe")
START, DRAWS = GAME.init(), Draws(0, torch.tensor([0]), 0)


class OnlyActs(Player):
    name = "only acts"

    def act(self, state, draws):
        return FirstLegal(GAME).act(state, draws)


class DoesAll(Learning):
    """Has every method of a player, each with an answer that no default gives."""

    name, neutral, store = "does all", 0.5, "a store"
    prepared = 0

    def points_per_value(self):
        return 64.0

    def visit_counts(self, state):
        return torch.ones(1, 9, dtype=torch.int64)

    def searched(self, state, draws):
        return "searched"

    def prepare(self, state, draws):
        self.prepared += 1

    def explores(self, draws):
        return torch.tensor([True])

    def reason(self, state):
        return "a reason"

    def solves(self, state):
        return torch.tensor([True])

    def value_text(self, value, state, row=0):
        return "wins"

    def without_time_limit(self):
        return Valuing(GAME)


def answers(player):
    """What a player says of itself at the start of a match."""
    for_state = (player.policy, player.action_values, player.visit_counts, player.reason, player.solves)
    found = [method(START) for method in for_state]
    found += [player.points_per_value(), player.searched(START, DRAWS), player.explores(DRAWS), player.status()]
    found = [answer.tolist() if isinstance(answer, torch.Tensor) else answer for answer in found]
    return [*found, player.neutral, player.store, player.value_text(1.0, START)]


def test_by_default_nothing_is_known_about_a_player() -> None:
    player = OnlyActs()
    player.prepare(START, DRAWS)
    assert answers(player) == [*[None] * 4, [False], *[None] * 4, 0.0, None, "is worth 1"]
    assert player.without_time_limit() is player.unwrapped is player
    assert not isinstance(player, LearnsFromMatches | FollowsMatch | EvaluatesOnDevice)
    with pytest.raises(NotNowError, match="only acts only plays matches; it has no policy for arbitrary positions"):
        policy_of(player, START)


@pytest.mark.parametrize("wrap", [PlayerWrapper, lambda player: CheckedPlayer(player, GAME, "a name")])
def test_a_wrapper_says_what_the_player_inside_says_at_any_depth(wrap) -> None:
    player = DoesAll(GAME)
    wrapper = wrap(PlayerWrapper(player))
    assert answers(wrapper) == answers(player)
    assert None not in answers(player)
    wrapper.prepare(START, DRAWS)
    assert player.prepared == 1
    assert type(wrapper.without_time_limit().unwrapped) is Valuing
    assert wrapper.unwrapped is player


def test_a_learner_inside_wrappers_is_a_learner() -> None:
    learner = Learning(GAME)
    wrapper = PlayerWrapper(EpsilonGreedyPlayer(GAME, PlayerWrapper(learner), [0.5]))
    assert wrapper.name == "epsilon-greedy learning"
    assert learners_among((wrapper, None)) == {wrapper: learner}
    assert learners_among((wrapper, wrapper)) == {wrapper: learner}
    assert learners_among((RandomPlayer(GAME), PlayerWrapper(OnlyActs()))) == {}
    assert not isinstance(PlayerWrapper(RandomPlayer(GAME)).unwrapped, EvaluatesOnDevice)


def test_an_exploring_player_has_a_policy_if_the_player_inside_has_one() -> None:
    exploring = EpsilonGreedyPlayer(GAME, Valuing(GAME), [0.5])
    assert policy_of(exploring, START)[0, 0] == 0.5 / 9
    assert EpsilonGreedyPlayer(GAME, OnlyActs(), [0.5, 0.1]).policy(START) is None


def test_a_player_without_its_time_limit_still_explores() -> None:
    searcher = Searcher(GAME, FeatureEvaluation(1.0, 0.0, {}, game=GAME.name))
    exploring = EpsilonGreedyPlayer(GAME, SearchPlayer(searcher, 1, time_limit=5), [0.5])
    unlimited = exploring.without_time_limit()
    assert isinstance(unlimited, EpsilonGreedyPlayer)
    assert unlimited.unwrapped.time_limit is None
    assert exploring.unwrapped.time_limit == 5
