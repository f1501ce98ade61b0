"""The features of all positions of random Othello matches, compared with slow implementations and with each other."""

import networkx as nx
import numpy as np
import pytest
import torch

from selfplay.compute.random_numbers import Activity, Draws, stream_key
from selfplay.games import make_game
from selfplay.games.feature_kernels import feature_values

MATCHES = 20


@pytest.fixture(scope="module", params=["othello", "othello_4x4"])
def played(request):
    """A board size, and every position of some random matches on it."""
    game = make_game(request.param)
    key, match = stream_key(0, 0, Activity.GENERATION), torch.arange(MATCHES)
    states = [game.init(MATCHES)]
    while not bool(states[-1].terminated.all()):
        actions = game.kernels.random_actions(states[-1], Draws(key, match, len(states)))
        states.append(game.step_unchecked(states[-1], actions))
    return game, game.state_at(torch.cat([state.position for state in states])), states


# ---------------------------------------------------------------------- compared with slow implementations


def test_the_eight_images_of_a_board_have_the_same_features(played):
    game, state, _ = played
    width = game.width
    squares = game.squares(state).reshape(-1, width, width)
    powers = torch.tensor([1 << i for i in range(63)] + [-(1 << 63)])[: width * width]
    expected = feature_values(game, state)
    for turns in range(4):
        for image in (torch.rot90(squares, turns, (1, 2)), torch.rot90(squares, turns, (1, 2)).transpose(1, 2)):
            own, opp = ((image.reshape(len(image), -1) == player).long() @ powers for player in (1, -1))
            assert torch.equal(feature_values(game, game.state_at(torch.stack([own, opp], dim=1))), expected)


def test_all_features_but_parity_change_sign_with_the_player(played):
    game, state, _ = played
    expected = -feature_values(game, state)
    expected[:, game.features.names.index("parity")] *= -1
    assert torch.equal(feature_values(game, game.state_at(state.position.flip(1))), expected)


def test_parity_counts_the_regions_that_networkx_finds(played):
    game, state, _ = played
    line = nx.path_graph(game.width)
    # Squares that touch at a side or a corner are neighbours.
    board = nx.strong_product(line, line)
    expected = []
    for squares in (game.squares(state) == 0).reshape(-1, game.width, game.width):
        empty = board.subgraph((row, column) for row, column in squares.nonzero().tolist())
        expected.append(sum(1 if len(region) % 2 else -1 for region in nx.connected_components(empty)))
    found = feature_values(game, state)[:, game.features.names.index("parity")]
    assert found.tolist() == expected


def slow_stable(board):
    """The stable discs of player 1, found square by square and direction by direction."""
    width = len(board)

    def on_board(row, column):
        return 0 <= row < width and 0 <= column < width

    def is_full(row, column, down, right):
        return all(
            board[row + k * down, column + k * right] != 0
            for k in range(-width, width + 1)
            if on_board(row + k * down, column + k * right)
        )

    def is_held(row, column, down, right):
        sides = [(row + down, column + right), (row - down, column - right)]
        return is_full(row, column, down, right) or any(not on_board(*s) or s in found for s in sides)

    found, before = set(), None
    while before != len(found):
        before = len(found)
        for row, column in zip(*np.nonzero(board == 1), strict=True):
            if all(is_held(row, column, *line) for line in ((0, 1), (1, 0), (1, 1), (1, -1))):
                found.add((row, column))
    return found


def test_stable_discs_equal_those_of_a_slow_fixpoint(played):
    game, state, _ = played
    some = state.select(torch.arange(0, state.batch_size, 11))
    boards = game.squares(some).numpy().reshape(-1, game.width, game.width)
    expected = [len(slow_stable(board)) - len(slow_stable(-board)) for board in boards]
    found = feature_values(game, some)[:, game.features.names.index("stable")]
    assert found.tolist() == expected
    assert max(expected) >= 5


# ---------------------------------------------------------------------- the same rules in three ways
