"""Fitting a network: the losses, the weights that are kept, and reproducibility."""

import itertools

import numpy as np
import pytest
import torch
from torch import nn

from selfplay import play_matches
from selfplay.architectures import Output, build_network
from selfplay.compute.random_numbers import Activity, stream_key
from selfplay.dataset.match_rows import discounted_rows
from selfplay.errors import SettingError, StageError
from selfplay.games import make_game
from selfplay.matches.series import Series
from selfplay.players.player import RandomPlayer
from selfplay.players.value_net import ValueNetPlayer
from selfplay.training.fitting import fit_network, initial_network, seeded
from selfplay.training.parameters import Training
from selfplay.training.rows import TrainingRows, is_held_out
from tests.support.dataset_tools import observations_of, random_rows
from tests.support.training import examples_of, fit_to_rows, training_settings

GAME = make_game("tictactoe")
SHAPE = GAME.observation_shape
KEY = stream_key(7, 1, Activity.TRAINING)
"""Of the training of level 1 with the seed 7."""
CODEC = GAME.observation_codec
ROWS = random_rows(GAME, range(200))
OBSERVATIONS = observations_of(ROWS, CODEC)


def make_network(dropout=0.0):
    with seeded(1):
        return build_network(
            {"name": "mlp", "hidden_sizes": [16], "dropout": dropout}, SHAPE, GAME.num_distinct_actions
        )


def fitted(settings=None, seed=7, rows=ROWS, dropout=0.0, **options):
    network = make_network(dropout)
    losses = fit_to_rows(network, rows, settings or training_settings(), GAME, seed, **options)
    return network, losses


def vector(network):
    return torch.cat([parameter.detach().reshape(-1).clone() for parameter in network.parameters()])


def test_too_few_matches_are_refused():
    with pytest.raises(StageError, match="there are too few matches to hold out some of them; set more matches"):
        fitted(rows=ROWS.select(ROWS.match == 0))


def test_the_validation_loss_is_the_plain_mean_squared_error_of_the_held_out_rows():
    network, losses = fitted(training_settings(epochs=1))
    held = np.flatnonzero(is_held_out(ROWS.match, 0.2, KEY))
    network.eval()
    total = 0.0
    for row in held:
        observation = torch.tensor(OBSERVATIONS[row], dtype=torch.float32).reshape(1, *SHAPE)
        with torch.inference_mode():
            total += (network(observation).value.item() - float(ROWS.target[row])) ** 2
    assert losses[0].measured["validation_loss"] == pytest.approx(total / len(held), rel=1e-5)


def test_the_first_training_loss_is_the_weighted_error_of_the_untrained_network():
    settings = training_settings(epochs=1, steps_per_epoch=1, batch_size=10_000)
    _, losses = fitted(settings)
    examples = examples_of(ROWS.select(~is_held_out(ROWS.match, 0.2, KEY)), settings, GAME)
    with torch.inference_mode():
        values = make_network()(examples.packed.float().reshape(-1, *SHAPE)).value
    expected = (examples.weights * (values - examples.targets) ** 2).mean().item()
    assert losses[0].measured["training_loss"] == pytest.approx(expected, rel=1e-5)


def test_without_steps_per_epoch_an_epoch_is_one_pass():
    seen = []

    class Counting(nn.Module):
        def __init__(self):
            super().__init__()
            self.linear = nn.Linear(18, 1)

        def forward(self, observations):
            if self.training:
                seen.append(observations.flatten(1))
            return Output(self.linear(observations.flatten(1))[:, 0])

    settings = training_settings(epochs=2, steps_per_epoch=None, batch_size=100, symmetries=False, merge=False)
    fit_to_rows(Counting(), ROWS, settings, GAME, 7)
    size = int((~is_held_out(ROWS.match, 0.2, KEY)).sum())
    steps = -(-size // 100)
    assert [len(batch) for batch in seen] == ([100] * (steps - 1) + [size % 100 or 100]) * 2
    expected = sorted(map(tuple, OBSERVATIONS[~is_held_out(ROWS.match, 0.2, KEY)].tolist()))
    passes = [torch.cat(seen[:steps]), torch.cat(seen[steps:])]
    assert all(sorted(map(tuple, examples.int().tolist())) == expected for examples in passes)
    assert not torch.equal(*passes)


def test_rows_in_parts_give_the_same_training_as_rows_at_once():
    count = len(ROWS.match)
    edges = [0, 1, 17, 17, count // 2, count]
    parts = [ROWS.select(slice(start, end)) for start, end in itertools.pairwise(edges)]
    weights = []
    for settings in (training_settings(), training_settings(merge=False, symmetries=False)):
        for rows in ([ROWS], parts):
            network, in_memory = make_network(), TrainingRows(GAME, rows)
            losses = fit_network(network, in_memory, settings, seed=7)
            weights.append((in_memory.num_rows, losses, vector(network).tolist()))
    assert weights[0] == weights[1] != weights[2] == weights[3]


def test_a_network_is_made_of_names_and_what_is_neither_is_refused() -> None:
    named, given = initial_network("tictactoe", "mlp"), initial_network(GAME, {"name": "mlp"})
    for one, other in zip(named.parameters(), given.parameters(), strict=True):
        assert torch.equal(one, other)
    with pytest.raises(SettingError, match="must be a game or its name, such as tictactoe"):
        initial_network({"name": "mlp"}, "tictactoe")  # type: ignore[arg-type]
    with pytest.raises(SettingError, match="must be a name or a mapping, such as mlp"):
        initial_network("tictactoe", GAME)  # type: ignore[arg-type]


def test_a_level_of_tic_tac_toe_is_learned_without_files():
    random, network = RandomPlayer(GAME), initial_network(GAME, {"name": "mlp", "hidden_sizes": [64]})
    record = next(play_matches(GAME, (random, random), range(4000), key=0, batch_size=4000))
    rows = TrainingRows(GAME, [discounted_rows(GAME, record, gamma=0.9)])
    losses = fit_network(network, rows, Training(epochs=10, learning_rate=0.01))
    assert losses[-1].measured["validation_loss"] < 0.9 * losses[0].measured["validation_loss"]
    players = ValueNetPlayer(GAME, network), random
    assert Series(range(200), 0).play(GAME, players).results.losses < 20


@pytest.mark.parametrize(
    ("parameters", "message"),
    [
        ({"epochs": 0}, r"training\.epochs=0: must be from 1"),
        ({"schedule": "sometimes"}, r"training\.schedule=sometimes: must be constant or one_cycle"),
    ],
)
def test_parameters_out_of_range_are_refused(parameters, message):
    with pytest.raises(SettingError, match=message):
        fitted(training_settings(**parameters))


# ---------------------------------------------------------------------- the weights that are kept


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_the_same_seed_gives_the_same_weights_bit_for_bit(dropout):
    (first, first_losses), (second, second_losses) = (fitted(dropout=dropout) for _ in range(2))
    assert torch.equal(vector(first), vector(second))
    assert first_losses == second_losses


def test_the_weights_of_the_champion_are_kept():
    # Steps so large that the loss goes up and down.
    epochs = []
    network = make_network()
    settings = training_settings(epochs=12, steps_per_epoch=1, learning_rate=0.5, schedule="constant")
    losses = fit_to_rows(
        network,
        ROWS,
        settings,
        GAME,
        7,
        on_epoch=lambda loss: epochs.append((loss, vector(network))),
    )
    assert [loss for loss, _ in epochs] == losses
    best = min(losses, key=lambda loss: loss.measured["validation_loss"])
    assert best is not losses[-1]
    kept = next(weights for loss, weights in epochs if loss is best)
    assert torch.equal(vector(network), kept)
    assert not torch.equal(kept, epochs[-1][1])


def test_training_does_not_change_torchs_generator():
    torch.manual_seed(42)
    before = torch.get_rng_state()
    fitted(dropout=0.5)
    assert torch.equal(torch.get_rng_state(), before)


def test_a_loss_that_is_not_a_number_stops_the_training():
    with pytest.raises(StageError, match=r"the loss is not a number in epoch 1; set a lower learner\.learning_rate"):
        fitted(training_settings(learning_rate=1e30))


def test_bfloat16_rounds_computations_but_neither_weights_nor_losses():
    network, losses = fitted(training_settings(precision="bfloat16", epochs=8))
    exact, exact_losses = fitted(training_settings(epochs=8))
    assert vector(network).dtype == torch.float32
    assert not torch.equal(vector(network).bfloat16().float(), vector(network))
    assert not torch.equal(vector(network), vector(exact))
    assert [loss.measured["validation_loss"] for loss in losses] == pytest.approx(
        [loss.measured["validation_loss"] for loss in exact_losses], rel=0.03
    )
    assert losses[-1].measured["validation_loss"] < losses[0].measured["validation_loss"]
