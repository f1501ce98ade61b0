"""Training examples: merged rows, weights, symmetries, and the split into training matches and held-out ones."""

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st
from hypothesis.extra import numpy as hnp

from selfplay.dataset.rows import Rows
from selfplay.games import make_game
from selfplay.training.examples import distinct_rows
from selfplay.training.rows import is_held_out
from tests.support.dataset_tools import observations_of, positions_of, random_rows
from tests.support.training import examples_of, training_settings

GAME = make_game("tictactoe")
CODEC = GAME.observation_codec
ROWS = random_rows(GAME, range(200))


def three_rows():
    """Two rows of one observation and one of another: an X in the corner, and one in the centre."""
    observations = np.zeros((3, 18), dtype=np.uint8)
    observations[[0, 1], 0] = 1
    observations[2, 4] = 1
    targets = np.array([1.0, 0.5, -0.25], np.float32)
    return Rows(np.arange(3), np.zeros(3, np.int32), positions_of(observations, CODEC), targets)


def as_dictionary(examples):
    """Maps each observation, as text, to its (target, weight)."""
    keys = ["".join(str(int(entry)) for entry in observation) for observation in examples.packed]
    assert len(set(keys)) == len(keys)
    return dict(zip(keys, zip(examples.targets.tolist(), examples.weights.tolist(), strict=True), strict=True))


def one_stone(square):
    return "".join("1" if entry == square else "0" for entry in range(18))


def test_equal_observations_merge_into_their_mean_with_the_root_of_their_count_as_weight():
    examples = examples_of(three_rows(), training_settings(symmetries=False), GAME)
    mean_weight = (2**0.5 + 1) / 2
    merged = as_dictionary(examples)
    assert merged.keys() == {one_stone(0), one_stone(4)}
    assert merged[one_stone(0)] == pytest.approx((0.75, 2**0.5 / mean_weight))
    assert merged[one_stone(4)] == pytest.approx((-0.25, 1 / mean_weight))


@pytest.mark.parametrize(("weight_power", "ratio"), [(0.0, 1), (1.0, 2), (0.5, 2**0.5), (0.25, 2**0.25), (-2.0, 2**-2)])
def test_the_weight_is_a_power_of_the_count(weight_power, ratio):
    settings = training_settings(symmetries=False, weight_power=weight_power)
    merged = as_dictionary(examples_of(three_rows(), settings, GAME))
    assert merged[one_stone(0)][1] / merged[one_stone(4)][1] == pytest.approx(ratio)
    assert sum(weight for _, weight in merged.values()) / 2 == pytest.approx(1)


def test_the_eight_images_of_a_board_are_its_turns_and_mirrors():
    rows = ROWS.select(np.arange(len(ROWS.match)) == 4)
    examples = examples_of(rows, training_settings(merge=False), GAME)
    board = observations_of(rows, CODEC).reshape(2, 3, 3)
    turned = [np.rot90(board, turns, axes=(1, 2)) for turns in range(4)]
    expected = {image.tobytes() for b in turned for image in (b.copy(), b[:, :, ::-1].copy())}
    images = {image.astype(np.uint8).tobytes() for image in examples.packed.numpy()}
    assert len(images) == 8
    assert images == expected


def test_images_are_merged_with_the_counts_of_all_their_rows():
    merged = as_dictionary(examples_of(three_rows(), training_settings(weight_power=1.0), GAME))
    assert merged.keys() == {one_stone(square) for square in (0, 2, 4, 6, 8)}
    # Each corner stands for 2 rows x 2 images, the centre for 1 row x 8 images.
    mean_weight = (4 * 4 + 8) / 5
    for corner in (0, 2, 6, 8):
        assert merged[one_stone(corner)] == pytest.approx((0.75, 4 / mean_weight))
    assert merged[one_stone(4)] == pytest.approx((-0.25, 8 / mean_weight))


@given(hnp.arrays(np.uint8, st.tuples(st.integers(1, 30), st.integers(1, 130)), elements=st.integers(0, 1)))
def test_distinct_rows_contain_each_row_once(observations):
    first, inverse = distinct_rows(np.packbits(observations, axis=1))
    distinct = observations[first]
    assert len({row.tobytes() for row in distinct}) == len(distinct)
    assert (distinct[inverse] == observations).all()


@given(key=st.integers(-(2**63), 2**63 - 1), fraction=st.floats(0.1, 0.9))
def test_rows_of_one_match_are_never_on_both_sides(key, fraction):
    held = is_held_out(ROWS.match, fraction, key)
    assert not set(ROWS.match[held]) & set(ROWS.match[~held])


def test_the_share_of_held_out_matches_is_the_fraction():
    match = np.arange(50_000)
    share = is_held_out(match, 0.2, 3).mean()
    assert abs(share - 0.2) < 5 * (0.2 * 0.8 / 50_000) ** 0.5
