"""Networks as evaluators: whose view their outputs are seen from, and equal results in any batch."""

import pytest
import torch
from torch import nn

from selfplay.agents.agent import Agent
from selfplay.agents.checkpoints import Checkpoint
from selfplay.agents.network_evaluator import NetworkEvaluator, SymmetricNetwork
from selfplay.architectures import Output, build_network
from selfplay.compute.devices import PORTABLE
from selfplay.compute.portable import set_numerics
from selfplay.compute.random_numbers import Draws
from selfplay.games import make_game
from selfplay.search.mcts.evaluator import parts_of_evaluator
from selfplay.search.mcts.rule import make_rule
from selfplay.search.mcts.tree_search import TreeSearch
from selfplay.training.fitting import seeded
from tests.games.test_default_observations import Fields
from tests.support.amazons import Amazons
from tests.support.clobber import Clobber

GAME = make_game("tictactoe")


def agent_of(network):
    return Agent(Checkpoint(network.eval(), {"outcome": "return"}), GAME, "network")


class CountsStones(nn.Module):
    """Value: a tenth of the lead in stones of the player who has just moved; logits: 0, 1, 2, ..."""

    def forward(self, observations):
        lead = observations[:, 0].sum(dim=(1, 2)) - observations[:, 1].sum(dim=(1, 2))
        return Output(lead / 10, torch.arange(9.0).expand(len(observations), -1))


class OnlyValues(CountsStones):
    def forward(self, observations):
        return Output(super().forward(observations).value)


def network_of(name, **options):
    with seeded(5):
        network = build_network({"name": name, **options}, GAME.observation_shape, 9)
        for parameter in network.parameters():
            nn.init.normal_(parameter, std=0.3)
    return network


# X at 0 and 4, O at 3 and 5, X to move.
STATE = GAME.state_at(torch.tensor([[0b10001, 0b101000]]))
# X has one stone more, O to move.
LATER = GAME.state_at(torch.tensor([[0b1000, 0b10001]]))


def test_the_value_of_a_policy_network_is_turned_to_the_player_to_move():
    value, logits = agent_of(CountsStones()).evaluator().evaluate(LATER)
    assert value.tolist() == pytest.approx([-0.1])
    assert logits.tolist() == [list(range(9))]


def test_a_value_network_gives_priors_by_the_values_of_the_afterstates():
    value, logits = agent_of(OnlyValues()).evaluator(0.5).evaluate(STATE)
    # Each stone is a lead of one, except square 8, which wins.
    assert value.tolist() == [1.0]
    legal = [1, 2, 6, 7, 8]
    assert logits[0, legal].tolist() == pytest.approx([0.2, 0.2, 0.2, 0.2, 2.0])


@pytest.mark.slow
def test_a_level_with_tables_is_evaluated_inside_the_compiled_search():
    network = network_of("ntuple")
    evaluator = agent_of(network).evaluator()
    assert parts_of_evaluator(evaluator).position_value is not None
    compiled = TreeSearch(GAME, evaluator, make_rule("puct"), 40).search(LATER)
    by_batches = TreeSearch(GAME, NetworkEvaluator(GAME, network), make_rule("puct"), 40).search(LATER)
    # float64 and float32.
    torch.testing.assert_close(compiled.policy, by_batches.policy, atol=0.06, rtol=0)
    torch.testing.assert_close(compiled.value, by_batches.value, atol=0.02, rtol=0)


@pytest.mark.slow
def test_a_result_does_not_depend_on_the_batch():
    network = network_of("alphazero_residual")
    set_numerics(network, PORTABLE)
    search = TreeSearch(GAME, agent_of(network).evaluator(), make_rule("puct", {"noise": 0.3}), 9)
    match = torch.arange(60)
    together = search.search(GAME.init(60), Draws(4, match, 0))
    for row in (0, 17, 59):
        alone = search.search(GAME.init(1), Draws(4, match[row : row + 1], 0))
        for one, all_of_them in zip(alone, together, strict=True):
            assert torch.equal(one[0].nan_to_num(9), all_of_them[row].nan_to_num(9))


class ByBatches:
    """A network evaluator that is evaluated by torch."""

    def __init__(self, evaluator):
        self.evaluate, self.ends = evaluator.evaluate, evaluator.ends


@pytest.mark.slow
@pytest.mark.parametrize("name", ["residual", "alphazero_residual"])
def test_a_network_inside_the_compiled_search_finds_what_torch_finds(name):
    network = network_of(name)
    set_numerics(network, PORTABLE)
    evaluator = agent_of(network).evaluator()
    assert parts_of_evaluator(evaluator).position_value is not None
    draws = Draws(4, torch.arange(3), 2)
    state = GAME.state_at(torch.tensor([[0b10001, 0b101000], [0b1, 0b10], [0b1000, 0b10000]]))
    compiled, by_batches = (
        TreeSearch(GAME, one, make_rule("puct", {"noise": 0.3}), 40).search(state, draws)
        for one in (evaluator, ByBatches(evaluator))
    )
    assert torch.equal(compiled.visits, by_batches.visits)
    torch.testing.assert_close(compiled.action_values, by_batches.action_values, equal_nan=True, atol=1e-6, rtol=0)


@pytest.mark.slow
@pytest.mark.parametrize("game", [Clobber(), Amazons(), Fields()], ids=lambda game: game.name)
def test_compiled_searches_play_actions_that_are_not_squares_and_see_scaled_numbers(game):
    architecture = {"name": "alphazero_convolutional", "channels": 4, "blocks": 1}
    with seeded(5):
        network = build_network(architecture, game.observation_shape, game.num_distinct_actions, game)
        for parameter in network.parameters():
            nn.init.normal_(parameter, std=0.3)
    set_numerics(network, PORTABLE)
    evaluator = NetworkEvaluator(game, network.eval(), "return", None, "network")
    assert parts_of_evaluator(evaluator).position_value is not None
    compiled, by_batches = (
        TreeSearch(game, one, make_rule("puct"), 60).search(game.init(), Draws(4, torch.arange(1), 2))
        for one in (evaluator, ByBatches(evaluator))
    )
    assert torch.equal(compiled.visits, by_batches.visits)
    torch.testing.assert_close(compiled.action_values, by_batches.action_values, equal_nan=True, atol=1e-6, rtol=0)


@pytest.mark.parametrize(
    ("name", "options", "is_compiled"),
    [
        ("alphazero_residual", {"channels": 200}, True),
        ("alphazero_mlp", {}, True),
        ("alphazero_mlp", {"hidden_sizes": [512, 512]}, False),
    ],
)
def test_networks_with_large_linear_layers_are_evaluated_in_batches_by_torch(name, options, is_compiled):
    evaluator = agent_of(network_of(name, **options)).evaluator()
    assert (parts_of_evaluator(evaluator).position_value is not None) == is_compiled


def images_of(state):
    """The eight images of a position, and where each action goes."""
    actions = torch.from_numpy(GAME.symmetries.actions)

    def moved(word, places):
        return sum(1 << int(places[a]) for a in range(9) if word >> a & 1)

    own, opp = state.position[0].tolist()
    return GAME.state_at(torch.tensor([[moved(own, places), moved(opp, places)] for places in actions])), actions


@pytest.mark.parametrize("name", ["mlp", "alphazero_mlp"])
def test_a_symmetric_network_says_the_same_of_all_images(name):
    network = network_of(name)
    images, actions = images_of(LATER)
    single = network(GAME.observe(images))
    assert single.value.std() > 0.01
    output = SymmetricNetwork(network, GAME)(GAME.observe(images))
    assert torch.allclose(output.value, single.value.mean().expand(8), atol=1e-6)
    if output.policy_logits is not None:
        moved = output.policy_logits.gather(1, actions)
        assert torch.allclose(moved, output.policy_logits[:1].expand(8, -1), atol=1e-6)
        assert torch.allclose(output.policy_logits[0], single.policy_logits.gather(1, actions).mean(dim=0), atol=1e-6)
