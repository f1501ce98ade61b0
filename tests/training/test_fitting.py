"""Training: the examples, the held-out matches, the loss, and the weights that are kept."""

import itertools

import numpy as np
import pytest
import torch
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp
from torch import nn

from selfplay.architectures import build_network
from selfplay.architectures.output import Output
from selfplay.dataset.rows import Rows
from selfplay.errors import SettingError, StageError
from selfplay.games import make_game
from selfplay.settings.training import OptimizerSettings, TrainingSettings
from selfplay.training.examples import Examples, distinct_rows, training_examples
from selfplay.training.fitting import fit, seeded
from selfplay.training.held_out import HeldOut, is_held_out
from selfplay.training.loss import validation_loss
from selfplay.training.optimizer import LearningRate
from selfplay.training.rows_in_memory import RowsInMemory
from tests.support.dataset_tools import observations_of, random_rows, words_of
from tests.support.training import fit_to_rows

GAME = make_game("tictactoe")
SHAPE = GAME.observation_shape
CODEC = GAME.observation_codec
ROWS = random_rows(GAME, range(200))
OBSERVATIONS = observations_of(ROWS, CODEC)


def make_settings(**changes):
    optimizer = OptimizerSettings(learning_rate=changes.pop("learning_rate", 0.003))
    values = {"epochs": 4, "steps_per_epoch": 6, "batch_size": 128, "optimizer": optimizer}
    return TrainingSettings(**{**values, **changes})


def make_network(dropout=0.0):
    with seeded(1):
        return build_network(
            {"name": "mlp", "hidden_sizes": [16], "dropout": dropout}, SHAPE, GAME.num_distinct_actions
        )


def fitted(settings=None, key=7, rows=ROWS, dropout=0.0, **options):
    network = make_network(dropout)
    losses = fit_to_rows(network, rows, settings or make_settings(), GAME, key, **options)
    return network, losses


def vector(network):
    return torch.cat([parameter.detach().reshape(-1).clone() for parameter in network.parameters()])


def three_rows():
    """Two rows of one observation and one of another: an X in the corner, and one in the centre."""
    observations = np.zeros((3, 18), dtype=np.uint8)
    observations[[0, 1], 0] = 1
    observations[2, 4] = 1
    own, opp = words_of(observations, CODEC)
    return Rows(np.arange(3), np.zeros(3, np.int32), own, opp, np.array([1.0, 0.5, -0.25], np.float32))


def examples_of(rows, settings):
    """`training_examples` with the observations that they show, uint8[N, 18], as inputs."""
    examples = training_examples(CODEC.pack(rows.own, rows.opp), rows.target, settings, GAME.symmetries)
    observations = np.unpackbits(examples.packed, axis=1, count=18)
    return Examples(*map(torch.from_numpy, (observations, examples.targets, examples.weights)))


def as_dictionary(examples):
    """From each observation, as text, to its (target, weight)."""
    keys = ["".join(str(int(entry)) for entry in observation) for observation in examples.inputs]
    assert len(set(keys)) == len(keys)
    return dict(zip(keys, zip(examples.targets.tolist(), examples.weights.tolist(), strict=True), strict=True))


def one_stone(square):
    return "".join("1" if entry == square else "0" for entry in range(18))


# ---------------------------------------------------------------------- examples


def test_equal_observations_merge_into_their_mean_with_the_root_of_their_count_as_weight():
    examples = examples_of(three_rows(), make_settings(symmetries=False))
    mean_weight = (2**0.5 + 1) / 2
    merged = as_dictionary(examples)
    assert merged.keys() == {one_stone(0), one_stone(4)}
    assert merged[one_stone(0)] == pytest.approx((0.75, 2**0.5 / mean_weight))
    assert merged[one_stone(4)] == pytest.approx((-0.25, 1 / mean_weight))


@pytest.mark.parametrize(("weight_power", "ratio"), [(0.0, 1), (1.0, 2), (0.5, 2**0.5)])
def test_the_weight_is_a_power_of_the_count(weight_power, ratio):
    settings = make_settings(symmetries=False, weight_power=weight_power)
    merged = as_dictionary(examples_of(three_rows(), settings))
    assert merged[one_stone(0)][1] / merged[one_stone(4)][1] == pytest.approx(ratio)
    assert sum(weight for _, weight in merged.values()) / 2 == pytest.approx(1)


def test_without_merging_every_row_is_an_example_of_weight_1():
    rows = three_rows()
    examples = examples_of(rows, make_settings(symmetries=False, merge=False))
    assert examples.inputs.tolist() == observations_of(rows, CODEC).tolist()
    assert examples.targets.tolist() == rows.target.tolist()
    assert examples.weights.tolist() == [1, 1, 1]


def test_symmetries_give_eight_images_each_with_the_rows_target():
    examples = examples_of(three_rows(), make_settings(merge=False))
    assert examples.targets.tolist() == [1.0] * 8 + [0.5] * 8 + [-0.25] * 8
    squares = examples.inputs.argmax(dim=1).tolist()
    # Each corner is the image of a corner twice; the centre is always its own.
    assert sorted(squares[:8]) == [0, 0, 2, 2, 6, 6, 8, 8]
    assert squares[16:] == [4] * 8


def test_the_eight_images_of_a_board_are_its_turns_and_mirrors():
    rows = ROWS.select(np.arange(len(ROWS.match)) == 4)
    examples = examples_of(rows, make_settings(merge=False))
    board = observations_of(rows, CODEC).reshape(2, 3, 3)
    turned = [np.rot90(board, turns, axes=(1, 2)) for turns in range(4)]
    expected = {image.tobytes() for b in turned for image in (b.copy(), b[:, :, ::-1].copy())}
    images = {image.astype(np.uint8).tobytes() for image in examples.inputs.numpy()}
    assert len(images) == 8
    assert images == expected


def test_images_are_merged_with_the_counts_of_all_their_rows():
    merged = as_dictionary(examples_of(three_rows(), make_settings(weight_power=1.0)))
    assert merged.keys() == {one_stone(square) for square in (0, 2, 4, 6, 8)}
    # Each corner stands for 2 rows x 2 images, the centre for 1 row x 8 images.
    mean_weight = (4 * 4 + 8) / 5
    for corner in (0, 2, 6, 8):
        assert merged[one_stone(corner)] == pytest.approx((0.75, 4 / mean_weight))
    assert merged[one_stone(4)] == pytest.approx((-0.25, 8 / mean_weight))


@pytest.mark.parametrize("symmetries", [True, False])
def test_merging_keeps_the_sums_of_a_whole_dataset(symmetries):
    settings = make_settings(symmetries=symmetries, weight_power=1.0)
    examples = examples_of(ROWS, settings)
    expected = ROWS.target.astype(np.float64).mean()
    assert (examples.weights * examples.targets).double().mean().item() == pytest.approx(expected, abs=1e-6)
    assert examples.weights.mean().item() == pytest.approx(1, abs=1e-5)


@given(hnp.arrays(np.uint8, st.tuples(st.integers(1, 30), st.integers(1, 130)), elements=st.integers(0, 1)))
def test_distinct_rows_are_each_row_once(observations):
    first, inverse = distinct_rows(np.packbits(observations, axis=1))
    distinct = observations[first]
    assert len({row.tobytes() for row in distinct}) == len(distinct)
    assert (distinct[inverse] == observations).all()


# ---------------------------------------------------------------------- the learning rate


def test_the_learning_rate_falls_from_level_to_level():
    optimizer = OptimizerSettings(learning_rate=0.4, level_decay=0.5, schedule="constant")
    settings = TrainingSettings(epochs=2, steps_per_epoch=3, optimizer=optimizer)
    for level, rate in ((1, 0.4), (2, 0.2), (4, 0.05)):
        schedule = LearningRate(settings, rows=10, level=level)
        assert [schedule.at(step) for step in range(6)] == pytest.approx([rate] * 6)


def test_a_decayed_schedule_is_the_first_levels_on_a_smaller_scale():
    settings = TrainingSettings(
        epochs=3, steps_per_epoch=None, batch_size=4, optimizer=OptimizerSettings(level_decay=0.8)
    )
    first, third = (LearningRate(settings, rows=10, level=level) for level in (1, 3))
    # One pass over 10 rows is three batches.
    assert first.steps_per_epoch == 3
    rates = [first.at(step) for step in range(9)]
    assert len(set(rates)) > 5
    assert [third.at(step) for step in range(9)] == pytest.approx([rate * 0.8**2 for rate in rates])


def test_a_level_of_a_smaller_rate_moves_the_weights_less():
    settings = make_settings(epochs=1, steps_per_epoch=2)
    settings.optimizer.level_decay = 0.1
    start = vector(make_network())
    moved = [(vector(fitted(settings, level=level)[0]) - start).norm() for level in (1, 2, 3)]
    assert moved[0] > 5 * moved[1] > 25 * moved[2] > 0


# ---------------------------------------------------------------------- held-out matches


@given(key=st.integers(-(2**63), 2**63 - 1), fraction=st.floats(0.1, 0.9))
def test_rows_of_one_match_never_stand_on_both_sides(key, fraction):
    held = is_held_out(ROWS.match, fraction, key)
    assert not set(ROWS.match[held]) & set(ROWS.match[~held])


def test_the_share_of_held_out_matches_is_the_fraction():
    match = np.arange(50_000)
    share = is_held_out(match, 0.2, 3).mean()
    assert abs(share - 0.2) < 5 * (0.2 * 0.8 / 50_000) ** 0.5


def test_a_match_is_held_out_whatever_other_matches_there_are():
    held = is_held_out(ROWS.match, 0.2, 7)
    later = ROWS.match >= 100
    assert (is_held_out(ROWS.match[later], 0.2, 7) == held[later]).all()


def test_another_key_holds_out_other_matches():
    assert (is_held_out(ROWS.match, 0.2, 7) != is_held_out(ROWS.match, 0.2, 8)).any()


def test_too_few_matches_are_refused():
    with pytest.raises(StageError, match="1 matches are too few to hold out some of them; set more matches"):
        fitted(rows=ROWS.select(ROWS.match == 0))


# ---------------------------------------------------------------------- loss


def test_the_validation_loss_is_the_plain_mean_squared_error_of_the_held_out_rows():
    network, losses = fitted(make_settings(epochs=1))
    held = np.flatnonzero(is_held_out(ROWS.match, 0.2, 7))
    network.eval()
    total = 0.0
    for row in held:
        observation = torch.tensor(OBSERVATIONS[row], dtype=torch.float32).reshape(1, *SHAPE)
        with torch.inference_mode():
            total += (network(observation).value.item() - float(ROWS.target[row])) ** 2
    assert losses[0].validation_loss == pytest.approx(total / len(held), rel=1e-5)


def test_the_validation_loss_of_a_known_network():
    class Zero(nn.Module):
        def forward(self, observations):
            return Output(torch.zeros(len(observations)))

    held_out = HeldOut(torch.zeros(2, 4, dtype=torch.uint8), torch.tensor([0, 1, 1]), torch.tensor([1.0, 0.5, -1.0]))
    assert validation_loss(Zero(), [held_out], (4,)) == pytest.approx((1 + 0.25 + 1) / 3)


def test_the_validation_loss_is_taken_without_dropout():
    network, losses = fitted(make_settings(epochs=1), dropout=0.5)
    held = is_held_out(ROWS.match, 0.2, 7)
    with torch.inference_mode():
        output = network.eval()(torch.tensor(OBSERVATIONS[held], dtype=torch.float32).reshape(-1, *SHAPE))
    expected = np.square(output.value.numpy() - ROWS.target[held]).mean()
    assert losses[0].validation_loss == pytest.approx(float(expected), rel=1e-5)


def test_the_first_training_loss_is_the_weighted_error_of_the_untrained_network():
    settings = make_settings(epochs=1, steps_per_epoch=1, batch_size=10_000)
    _, losses = fitted(settings)
    examples = examples_of(ROWS.select(~is_held_out(ROWS.match, 0.2, 7)), settings)
    with torch.inference_mode():
        values = make_network()(examples.inputs.float().reshape(-1, *SHAPE)).value
    expected = (examples.weights * (values - examples.targets) ** 2).mean().item()
    assert losses[0].training_loss == pytest.approx(expected, rel=1e-5)


def test_training_learns_more_than_the_best_constant():
    _, losses = fitted(make_settings(epochs=6, steps_per_epoch=20, learning_rate=0.01))
    held_out = ROWS.target[is_held_out(ROWS.match, 0.2, 7)]
    assert losses[-1].validation_loss < held_out.var()


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

    settings = make_settings(epochs=2, steps_per_epoch=None, batch_size=100, symmetries=False, merge=False)
    fit_to_rows(Counting(), ROWS, settings, GAME, 7)
    size = int((~is_held_out(ROWS.match, 0.2, 7)).sum())
    steps = -(-size // 100)
    assert [len(batch) for batch in seen] == ([100] * (steps - 1) + [size % 100 or 100]) * 2
    expected = sorted(map(tuple, OBSERVATIONS[~is_held_out(ROWS.match, 0.2, 7)].tolist()))
    passes = [torch.cat(seen[:steps]), torch.cat(seen[steps:])]
    assert all(sorted(map(tuple, examples.int().tolist())) == expected for examples in passes)
    assert not torch.equal(*passes)


def test_rows_that_come_in_parts_are_learned_from_as_if_they_came_at_once():
    count = len(ROWS.match)
    edges = [0, 1, 17, 17, count // 2, count]
    parts = [ROWS.select(slice(start, end)) for start, end in itertools.pairwise(edges)]
    weights = []
    for settings in (make_settings(), make_settings(merge=False, symmetries=False)):
        for rows in ([ROWS], parts):
            network, in_memory = make_network(), RowsInMemory(rows, settings, GAME, 7)
            losses = fit(network, in_memory, settings, SHAPE, 7)
            weights.append((in_memory.num_rows, losses, vector(network).tolist()))
    assert weights[0] == weights[1] != weights[2] == weights[3]


# ---------------------------------------------------------------------- the weights that are kept


@pytest.mark.parametrize("dropout", [0.0, 0.5])
def test_the_same_key_gives_the_same_weights_bit_for_bit(dropout):
    (first, first_losses), (second, second_losses) = (fitted(dropout=dropout) for _ in range(2))
    assert torch.equal(vector(first), vector(second))
    assert first_losses == second_losses


def test_another_key_gives_other_weights():
    assert not torch.equal(vector(fitted(key=7)[0]), vector(fitted(key=8)[0]))


def test_dropout_draws_from_the_key_only():
    torch.manual_seed(111)
    first, _ = fitted(dropout=0.5)
    torch.manual_seed(222)
    second, _ = fitted(dropout=0.5)
    assert torch.equal(vector(first), vector(second))


def test_the_weights_of_the_champion_are_kept():
    # Steps so large that the loss goes up and down.
    epochs = []
    network = make_network()
    settings = make_settings(epochs=12, steps_per_epoch=1, learning_rate=0.5)
    settings.optimizer.schedule = "constant"
    losses = fit_to_rows(
        network,
        ROWS,
        settings,
        GAME,
        7,
        on_epoch=lambda loss: epochs.append((loss, vector(network))),
    )
    assert [loss for loss, _ in epochs] == losses
    best = min(losses, key=lambda loss: loss.validation_loss)
    assert best is not losses[-1]
    kept = next(weights for loss, weights in epochs if loss is best)
    assert torch.equal(vector(network), kept)
    assert not torch.equal(kept, epochs[-1][1])


def test_champions_are_the_epochs_better_than_all_before():
    settings = make_settings(epochs=12, steps_per_epoch=1, learning_rate=0.5)
    settings.optimizer.schedule = "constant"
    _, losses = fitted(settings)
    validation = [loss.validation_loss for loss in losses]
    assert [loss.epoch for loss in losses] == list(range(1, 13))
    assert [loss.is_champion for loss in losses] == [
        all(value < earlier for earlier in validation[:epoch]) for epoch, value in enumerate(validation)
    ]


def test_training_leaves_torchs_generator_as_it_was():
    torch.manual_seed(42)
    before = torch.get_rng_state()
    fitted(dropout=0.5)
    assert torch.equal(torch.get_rng_state(), before)


def test_seeded_restores_the_generator_also_after_an_error():
    torch.manual_seed(42)
    before = torch.get_rng_state()
    with pytest.raises(ZeroDivisionError), seeded(3):
        torch.rand(1).item() / 0
    assert torch.equal(torch.get_rng_state(), before)


def test_a_trained_network_is_in_evaluation_mode():
    network, _ = fitted(dropout=0.5)
    assert not network.training


def test_a_loss_that_is_no_number_stops_the_training():
    with pytest.raises(StageError, match="the loss is not a number in epoch 1; set a lower training"):
        fitted(make_settings(learning_rate=1e30))


def test_bfloat16_rounds_what_networks_compute_but_neither_weights_nor_losses():
    network, losses = fitted(make_settings(precision="bfloat16", epochs=8))
    exact, exact_losses = fitted(make_settings(epochs=8))
    assert vector(network).dtype == torch.float32
    assert not torch.equal(vector(network).bfloat16().float(), vector(network))
    assert not torch.equal(vector(network), vector(exact))
    assert [loss.validation_loss for loss in losses] == pytest.approx(
        [loss.validation_loss for loss in exact_losses], rel=0.03
    )
    assert losses[-1].validation_loss < losses[0].validation_loss
    with pytest.raises(SettingError, match=r"^training.precision=float16: must be float32 or bfloat16$"):
        make_settings(precision="float16")
