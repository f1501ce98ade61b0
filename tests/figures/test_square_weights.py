"""The picture of learned tables: the weight of a stone on each square, from known weights."""

import numpy as np
import pytest
import torch

from selfplay.architectures import build_network
from selfplay.figures.square_weights import square_weight_maps


def network_of(**options):
    return build_network({"name": "ntuple", **options}, (2, 3, 3), 9)


def test_a_table_of_one_square_gives_half_the_difference_of_both_players_stones():
    network = network_of(patterns=["x"], phases=2)
    network.weight.data[:] = torch.tensor([[0.0, 0.3, -0.1], [5.0, 0.0, -0.6]])
    weights = network.square_weights()
    assert weights.shape == (2, 3, 3)
    assert weights[:, 0, 0].tolist() == pytest.approx([0.2, 0.3])
    assert np.count_nonzero(weights) == 2


def test_images_share_their_weights_and_unseen_fillings_are_left_out():
    network = network_of(patterns=["xx"], symmetries="square")
    # The entries of two squares: 0, then what stands on the first, then on the second, in threes.
    weight_of = network.patterns.weight_of_entry
    network.weight.data[0, weight_of[1]] = 0.5
    network.weight.data[0, weight_of[2]] = -0.5
    # In every image the first square is a corner, and each corner lies in two images, across and down.
    expected = np.zeros((3, 3))
    expected[::2, ::2] = 2 * 0.5
    assert network.square_weights()[0] == pytest.approx(expected)


def test_the_weights_of_all_sets_count_alike_and_unseen_ones_are_left_out():
    network = build_network({"name": "ntuple", "patterns": ["x"], "phases": 2, "sets": [2]}, (3, 3, 3), 9)
    network.weight.data[:] = torch.tensor([[0.0, 0.3, -0.1], [0.0, 0.5, 0.0], [0.0, 0.1, 0.0], [0.0, 0.0, -0.6]])
    assert network.square_weights()[:, 0, 0].tolist() == pytest.approx([0.15, 0.55])


def test_each_phase_has_a_panel_titled_with_its_numbers_of_stones():
    figure = square_weight_maps(network_of(phases=3).square_weights(), 7)
    titles = [axes.get_title() for axes in figure.axes if axes.get_title()]
    assert titles == ["0 to 3 stones", "4 to 6 stones", "7 to 9 stones"]


def test_phases_without_weights_are_left_out():
    weights = np.zeros((3, 3, 3))
    weights[1, 0, 0] = 0.5
    titles = [axes.get_title() for axes in square_weight_maps(weights, 7).axes]
    assert [title for title in titles if title] == ["4 to 6 stones"]
