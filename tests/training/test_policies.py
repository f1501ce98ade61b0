"""Policies in training: images, merged examples, illegal actions, and the cross-entropy."""

import math
from pathlib import Path

import numpy as np
import pytest
import torch

from selfplay.architectures import build_network
from selfplay.dataset.match_rows import match_rows
from selfplay.dataset.rows import Rows
from selfplay.dataset.searched_targets import search_targets
from selfplay.dataset.target_rules import PlayedMatches
from selfplay.errors import InvalidFileError
from selfplay.games import make_game
from selfplay.matches.arena import play_batch
from selfplay.players.player import RandomPlayer
from selfplay.training.epochs import read_epochs, write_epochs
from selfplay.training.examples import ILLEGAL, mark_illegal, training_examples
from selfplay.training.losses import cross_entropies, legal_actions_of_rows
from selfplay.training.parameters import LossWeights
from selfplay.training.rows import TrainingRows, held_out_rows
from tests.support.training import all_images, fit_to_rows, training_settings
from tests.support.waits import Waits

GAME = make_game("tictactoe")
CODEC = GAME.observation_codec


def rows_after(*actions: int, policies: list[list[float]]) -> Rows:
    """A row for each policy, all of the position after these actions."""
    state = GAME.init(len(policies))
    for action in actions:
        state = GAME.step(state, torch.full((len(policies),), action))
    numbers = np.arange(len(policies)), np.zeros(len(policies), np.int32)
    targets = np.linspace(-1, 1, len(policies), dtype=np.float32)
    return Rows(*numbers, state.position.numpy(), targets, np.array(policies, dtype=np.float32))


def examples_of(rows: Rows, **settings):
    packed = CODEC.pack(rows.position)
    chosen = training_settings(**settings)
    examples = training_examples(packed, rows.target, rows.policy, chosen, GAME)
    return examples if chosen.merge else all_images(examples, GAME)


def on(*squares: int) -> list[float]:
    """The same probability on these squares."""
    return [1 / len(squares) if square in squares else 0.0 for square in range(9)]


def test_a_policy_turns_with_its_board() -> None:
    # X in a corner; the policy is the square to its right.
    examples = examples_of(rows_after(0, policies=[on(1)]), merge=False)
    entries = np.unpackbits(examples.packed, axis=1, count=18).argmax(axis=1)
    pairs = sorted(zip(entries.tolist(), examples.policies.argmax(axis=1).tolist(), strict=True))
    # Each corner with both of its neighbours.
    assert pairs == [(0, 1), (0, 3), (2, 1), (2, 5), (6, 3), (6, 7), (8, 5), (8, 7)]


def test_merged_examples_have_the_mean_policy() -> None:
    rows = rows_after(4, policies=[on(0), on(0), on(1)])
    examples = examples_of(rows, symmetries=False)
    assert examples.policies.tolist() == [pytest.approx([2 / 3, 1 / 3, *[0] * 7])]
    assert examples.targets.tolist() == [0]
    # The centre is its own image, so its corners and its sides become equally probable.
    merged = examples_of(rows)
    assert merged.policies.tolist() == [pytest.approx([1 / 6, 1 / 12, 1 / 6, 1 / 12, 0, 1 / 12, 1 / 6, 1 / 12, 1 / 6])]


def random_rows(matches: int = 60) -> Rows:
    player = RandomPlayer(GAME)
    record = play_batch(GAME, (player, player), torch.arange(matches), torch.zeros(matches, dtype=torch.int8), 5)
    return match_rows(PlayedMatches(GAME, record, (player, player), 5, 1.0), search_targets)


@pytest.mark.parametrize("merge", [True, False])
def test_the_images_of_policies_are_legal(merge: bool) -> None:
    examples = examples_of(random_rows(), merge=merge)
    policies = mark_illegal(examples.policies, CODEC.unpack(examples.packed), GAME)
    is_legal = policies != ILLEGAL
    # The random player has the same probability for every legal action.
    assert (examples.policies[~is_legal] == 0).all()
    assert np.where(is_legal, policies, 0).sum(axis=1) == pytest.approx(1)
    assert (policies[is_legal] > 0).all()


def test_an_action_counts_where_it_is_legal_in_a_position_with_the_same_observation() -> None:
    """The observation does not show how many waits are left; action 4 is to wait."""
    game = Waits()
    states = [game.state_after(actions) for actions in (["4"], ["4", "4"], ["4", "4", "0"])]
    positions = np.concatenate([state.position.numpy() for state in states])
    policies = np.array([[0, 0, 0, 0, 1], [1, 0, 0, 0, 0], [0, 1, 0, 0, 0]], dtype=np.float32)
    numbers = np.array([0, 1, 2]), np.ones(3, np.int32)
    rows = TrainingRows(game, [Rows(*numbers, positions, np.zeros(3, np.float32), policies)])
    assert (rows.policies == ILLEGAL).tolist() == [[False] * 5, [False] * 4 + [True], [True] + [False] * 3 + [True]]
    settings = training_settings(symmetries=False)
    examples = training_examples(*rows.select(np.arange(3)), settings, game)
    assert sorted(examples.policies.tolist()) == [[ILLEGAL, 1, 0, 0, ILLEGAL], [0.5, 0, 0, 0, 0.5]]
    held_out = held_out_rows(*rows.select(np.arange(3)))
    assert sorted(held_out.policies.tolist()) == [[ILLEGAL, 1, 0, 0, ILLEGAL], [1, 0, 0, 0, 1]]


def test_the_cross_entropy_counts_legal_actions_only() -> None:
    logits = torch.tensor([[0.0, 0.0, 99.0], [math.log(3.0), 0.0, 0.0]])
    policies = torch.tensor([[0.5, 0.5, ILLEGAL], [1.0, 0.0, ILLEGAL]])
    assert cross_entropies(logits, policies).tolist() == pytest.approx([math.log(2), -math.log(0.75)])
    logits.requires_grad_()
    cross_entropies(logits, policies).sum().backward()
    assert logits.grad.isfinite().all()
    assert logits.grad[:, 2].tolist() == [0, 0]


def test_the_loss_of_the_legal_actions_is_that_of_all_actions() -> None:
    policies = torch.tensor([[ILLEGAL, 0.25, ILLEGAL, 0.75], [ILLEGAL, ILLEGAL, 1.0, ILLEGAL]])
    logits = torch.tensor([[5.0, 1.0, 2.0, 3.0], [5.0, 1.0, 2.0, 3.0]])
    actions, of_actions = legal_actions_of_rows(policies)
    assert actions.tolist() == [[1, 3], [2, 0]]
    assert of_actions.tolist() == [[0.25, 0.75], [1, ILLEGAL]]
    assert torch.equal(cross_entropies(logits.gather(1, actions), of_actions), cross_entropies(logits, policies))


def network():
    torch.manual_seed(1)
    return build_network({"name": "alphazero_mlp", "hidden_sizes": [32]}, GAME.observation_shape, 9)


def test_training_learns_a_policy_and_reports_the_parts_of_the_loss(tmp_path: Path) -> None:
    rows = random_rows()
    # The best policy puts all probability on the lowest legal action.
    lowest = (rows.policy > 0).argmax(axis=1)
    rows = rows._replace(policy=np.eye(9, dtype=np.float32)[lowest])
    settings = training_settings(epochs=6, steps_per_epoch=20, learning_rate=0.02, symmetries=False)
    weights = LossWeights(value=0.5, policy=2.0)
    losses = fit_to_rows(network(), rows, settings, GAME, 7, loss=weights)
    first, last = losses[0].parts, losses[-1].parts
    assert last["validation_policy_loss"] < 0.6 * first["validation_policy_loss"]
    assert losses[-1].measured["validation_loss"] == pytest.approx(
        0.5 * last["validation_value_loss"] + 2 * last["validation_policy_loss"], abs=2e-6
    )
    weighted = 0.5 * last["training_value_loss"] + 2 * last["training_policy_loss"]
    assert losses[-1].measured["training_loss"] == pytest.approx(weighted, abs=2e-6)
    path = tmp_path / "epoch_loss.csv"
    write_epochs(path, losses)
    assert read_epochs(path) == losses
    path.write_text(path.read_text().replace(",0.0\n", "\n"))
    with pytest.raises(InvalidFileError, match="row 1 is not a row of epoch,training_loss"):
        read_epochs(path)


def test_the_loss_of_the_weights_has_a_column() -> None:
    settings = training_settings(epochs=1, weight_decay=0.5)
    trained = network()
    losses = fit_to_rows(trained, random_rows(), settings, GAME, 7)
    squares = sum(float(parameter.detach().double().square().sum()) for parameter in trained.parameters())
    assert losses[0].parts["decay_loss"] == pytest.approx(0.25 * squares, rel=1e-5)


def test_an_optimiser_of_ones_own_trains_policies() -> None:
    settings = training_settings(epochs=6, learning_rate=0.01, optimizer="tests.support.outside_training:SignDescent")
    losses = fit_to_rows(network(), random_rows(), settings, GAME, 7)
    assert losses[-1].parts["validation_policy_loss"] < losses[0].parts["validation_policy_loss"]
