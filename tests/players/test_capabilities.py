"""What players can do besides acting, by themselves and inside wrappers."""

import pytest
import torch

from selfplay.compute.random_numbers import Draws
from selfplay.errors import NotNowError
from selfplay.games import make_game
from selfplay.matches.arena import statuses_of
from selfplay.matches.series import Series
from selfplay.players.capabilities import (
    EvaluatesOnDevice,
    Explains,
    FollowsMatch,
    LearnsFromMatches,
    ReportsStatus,
    Searches,
    capability,
    learners_among,
)
from selfplay.players.checked_player import CheckedPlayer
from selfplay.players.exploring import EpsilonGreedyPlayer
from selfplay.players.player import ActionValues, Player, PlayerWrapper, RandomPlayer, SearchedPolicies, policy_of
from selfplay.players.search import SearchPlayer, SearchPlayerParameters
from selfplay.search.feature_evaluation import FeatureEvaluation
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

    name = "does all"

    def value_actions(self, state, draws=None):
        return ActionValues(self.action_values(state), 0.5, 64.0, torch.tensor([True]), visits=draws)

    def searched(self, state, draws):
        return SearchedPolicies(self.policy(state), torch.tensor([0.25]))

    def explores(self, draws):
        return torch.tensor([True])

    def without_time_limit(self):
        return Valuing(GAME)


def answers(player):
    """What a player says of itself at the start of a match."""
    found = [player.policy(START), player.action_values(START), player.value_actions(START, DRAWS)]
    found += [player.searched(START, DRAWS), player.explores(DRAWS)]
    return [str(answer) for answer in found]


def test_by_default_nothing_is_known_about_a_player() -> None:
    player = OnlyActs()
    assert answers(player) == ["None"] * 5
    assert player.without_time_limit() is player.unwrapped is player
    assert not isinstance(player, LearnsFromMatches | FollowsMatch | EvaluatesOnDevice | Explains | ReportsStatus)
    with pytest.raises(NotNowError, match="only acts only plays matches; it has no policy for arbitrary positions"):
        policy_of(player, START)
    assert Valuing(GAME).value_actions(START).neutral == 0


@pytest.mark.parametrize("wrap", [PlayerWrapper, lambda player: CheckedPlayer(player, GAME, "a name")])
def test_a_wrapper_says_what_the_player_inside_says_at_any_depth(wrap) -> None:
    player = DoesAll(GAME)
    wrapper = wrap(PlayerWrapper(player))
    assert answers(wrapper) == answers(player)
    assert "None" not in answers(player)
    assert type(wrapper.without_time_limit().unwrapped) is Valuing
    assert wrapper.unwrapped is player
    assert statuses_of(wrapper, OnlyActs()) == ["seen 0"]


def test_a_learner_inside_wrappers_is_a_learner() -> None:
    learner = Learning(GAME)
    wrapper = PlayerWrapper(EpsilonGreedyPlayer(GAME, PlayerWrapper(learner), [0.5]))
    assert wrapper.name == "epsilon-greedy learning"
    for players in ((wrapper, None), (wrapper, wrapper)):
        found = learners_among(players)
        assert list(found) == [wrapper]
        assert isinstance(found[wrapper], LearnsFromMatches)
    record = next(Series(range(1), key=0).records(GAME, (wrapper, RandomPlayer(GAME))))
    found[wrapper].after_match(record, (0,))
    assert found[wrapper].matches_seen() == len(learner.seen) == 1
    assert learners_among((RandomPlayer(GAME), PlayerWrapper(OnlyActs()))) == {}
    assert not isinstance(PlayerWrapper(RandomPlayer(GAME)).unwrapped, EvaluatesOnDevice)


def test_the_methods_of_players_of_this_package_are_called_directly() -> None:
    searcher = Searcher(GAME, FeatureEvaluation(1.0, 0.0, {}, game=GAME.name))
    player = SearchPlayer(searcher, 1, SearchPlayerParameters())
    assert capability(PlayerWrapper(player), Searches) is player
    assert capability(PlayerWrapper(player), LearnsFromMatches) is None


def test_an_exploring_player_has_a_policy_if_the_player_inside_has_one() -> None:
    exploring = EpsilonGreedyPlayer(GAME, Valuing(GAME), [0.5])
    assert policy_of(exploring, START)[0, 0] == 0.5 / 9
    assert EpsilonGreedyPlayer(GAME, OnlyActs(), [0.5, 0.1]).policy(START) is None


def test_a_player_without_its_time_limit_still_explores() -> None:
    searcher = Searcher(GAME, FeatureEvaluation(1.0, 0.0, {}, game=GAME.name))
    exploring = EpsilonGreedyPlayer(GAME, SearchPlayer(searcher, 1, SearchPlayerParameters(time_limit=5)), [0.5])
    unlimited = exploring.without_time_limit()
    assert isinstance(unlimited, EpsilonGreedyPlayer)
    assert unlimited.unwrapped.time_limit is None
    assert exploring.unwrapped.time_limit == 5
