"""Tables of patterns where stones drop: the contents that can occur, weights by parity, and random walks."""

import numpy as np
import pytest
import torch

from selfplay.agents.agent import Agent
from selfplay.agents.checkpoints import Checkpoint
from selfplay.architectures import build_network
from selfplay.architectures.ntuple import with_phases
from selfplay.games import make_game
from selfplay.games.feature_kernels import board_words
from selfplay.games.pattern_planes import Planes, seen_in
from selfplay.games.patterns import stones_in_entries, write_all_entries
from tests.support.searches import position_values

ROWS, COLUMNS = 6, 7
# At the bottom and above it, with a gap in a column, alone in a column, and symmetric.
PATTERNS = ["////xxx/x.x", "/x.x/.x./x.x", "...x/...x/...x", "/////xxxxxxx"]


def boards_with_dropped_stones(count=300):
    """int64[count, 2, R, C]: boards in which no stone lies above an empty square."""
    generator = np.random.default_rng(1)
    heights = generator.integers(0, ROWS + 1, (count, 1, COLUMNS))
    filled = np.arange(ROWS)[:, None] >= ROWS - heights
    first = generator.random(filled.shape) < 0.5
    return np.stack([filled & first, filled & ~first], axis=1).astype(np.int64)


def architecture_of(**options):
    common = {"name": "ntuple", "symmetries": "mirror", "drops": True, "parities": True, "phases": 2}
    return common | {"patterns": PATTERNS} | options


def network_of(**options):
    game = make_game("connect_four")
    network = build_network(architecture_of(**options), game.observation_shape, game.num_distinct_actions)
    with torch.no_grad():
        network.weight.copy_(torch.randn(network.weight.shape, generator=torch.Generator().manual_seed(1)) / 10)
    return network


def contents(board, image):
    """For each square of an image: 0 empty, 1 or 2 a stone, 3 empty and within reach."""
    found = []
    for square in image:
        row, column = divmod(square, COLUMNS)
        stone = int(board[0, row, column] + 2 * board[1, row, column])
        is_reached = row == ROWS - 1 or board[:, row + 1, column].any()
        found.append(3 if stone == 0 and is_reached else stone)
    return tuple(found)


def test_each_contents_that_can_occur_has_an_entry_of_its_own():
    patterns, boards = network_of().patterns, boards_with_dropped_stones()
    entries = np.empty((len(boards), len(patterns.offsets)), dtype=np.int32)
    words = board_words(torch.from_numpy(boards).float())
    write_all_entries(seen_in(words, ROWS * COLUMNS, Planes()), patterns.contributions, patterns.offsets, entries)
    for number, (image, offset) in enumerate(zip(patterns.images, patterns.offsets, strict=True)):
        seen = [contents(board, image) for board in boards]
        pairs = set(zip(seen, entries[:, number].tolist(), strict=True))
        assert len(pairs) == len({first for first, _ in pairs}) == len({second for _, second in pairs})
        stones = stones_in_entries(patterns, number, ROWS, COLUMNS, drops=True)
        for squares, entry in pairs:
            assert [square % 3 for square in squares] == stones[entry - offset].tolist()


def test_networks_and_compiled_searches_find_the_same_values():
    network, boards = network_of(), torch.from_numpy(boards_with_dropped_stones()).float()
    game = make_game("connect_four")
    just_moved, to_move = map(torch.from_numpy, board_words(boards))
    states = game.state_at(torch.stack([to_move, just_moved], dim=1))
    is_open = ~states.terminated
    evaluation = Agent(Checkpoint(network, {"outcome": "return"}), game, "level 1").evaluation()
    found = -position_values(evaluation, game, states.select(is_open))
    torch.testing.assert_close(found.float(), network(boards).value.detach()[is_open], rtol=0, atol=1e-6)


@pytest.mark.parametrize("options", [{}, {"phases": 1, "parities": False}])
def test_weights_for_each_ply_keep_the_values_of_a_network(options):
    network, boards = network_of(**options), torch.from_numpy(boards_with_dropped_stones()).float()
    boards = boards[boards.flatten(1).any(dim=1)]
    larger, architecture = with_phases(network, architecture_of(**options))
    assert torch.equal(larger(boards).value, network(boards).value)
    assert build_network(architecture, (2, ROWS, COLUMNS), COLUMNS).weight.shape == larger.weight.shape
    by_ply = larger.weight_indices(boards) // larger.patterns.num_weights
    stones = boards.flatten(1).sum(dim=1)
    for ply in stones.unique():
        assert set(by_ply[stones == ply].unique().tolist()).isdisjoint(by_ply[stones > ply].unique().tolist())
